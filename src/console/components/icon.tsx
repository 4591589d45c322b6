/** Line icons, drawn on a grid of 24. They say nothing that the text beside them does not. */
const paths = {
  list: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4',
  download: 'M12 4v11m0 0 4-4m-4 4-4-4M4 20h16',
  upload: 'M12 16V5m0 0 4 4m-4-4L8 9M4 20h16',
  clock: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4l3 2',
  key: 'M15 4a5 5 0 1 1-3.6 8.4L4 20m0 0h4v-3m-4 3v-3M16 8h.01',
  coins:
    'M9 5c3 0 5 1 5 2.5S12 10 9 10 4 9 4 7.5 6 5 9 5zM4 7.5v9C4 18 6 19 9 19M14 7.5V10M15 11c3 0 5 1 5 2.5S18 16 15 16s-5-1-5-2.5 2-2.5 5-2.5zM10 13.5v4c0 1.500 2 2.500 5 2.500s5-1 5-2.500v-4',
  bell: 'M6 16V11a6 6 0 1 1 12 0v5l2 2H4zM10 21h4',
  pulse: 'M3 12h4l3-7 4 14 3-7h4',
  data: 'M12 4c4 0 7 1.200 7 2.800S16 9.500 12 9.500 5 8.300 5 6.800 8 4 12 4zM5 6.800v10.400C5 18.800 8 20 12 20s7-1.200 7-2.800V6.800M5 12c0 1.500 3 2.700 7 2.700s7-1.200 7-2.700',
  plus: 'M12 5v14M5 12h14',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6 6 18',
  book: 'M5 4h12a2 2 0 0 1 2 2v14H7a2 2 0 0 1-2-2zM5 18a2 2 0 0 1 2-2h12',
  check: 'M5 12.500l4.500 4.500L19 7.500',
  warning: 'M12 4 2.500 20h19zM12 10v4M12 17h.01',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  back: 'M14 6l-6 6 6 6',
  next: 'M10 6l6 6-6 6',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
