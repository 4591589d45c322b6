import { inOrder } from '../format.ts';

const ADDRESS = /^(https?:\/\/|data:image\/)\S+$/;

/** The text of a cell of someone's file: what does not fit is in its title. Addresses, as of pictures, are cut soon. */
export function CellText(cell: { text: string | undefined }) {
  const text = inOrder(cell.text ?? '');
  const isAddress = ADDRESS.test(text);
  return (
    <span class={isAddress ? 'cell brief' : 'cell'} title={text}>
      {isAddress ? text.replace(/^https?:\/\/(www\.)?/, '') : text}
    </span>
  );
}
