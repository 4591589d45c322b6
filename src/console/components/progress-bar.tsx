interface ProgressBarProps {
  label: string;
  /** Of `max`; null while it is unknown. */
  value: number | null;
  max: number;
}

export function ProgressBar({ label, value, max }: ProgressBarProps) {
  return (
    <progress aria-label={label} max={max} {...(value === null ? {} : { value })}>
      {value ?? ''}
    </progress>
  );
}
