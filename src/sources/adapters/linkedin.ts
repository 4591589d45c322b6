/** LinkedIn's `Connections.csv`: the first lines are notes, and few members show an email. */
import type { SourceRow } from '../../core/graph/sources/source-record.ts';
import type { Adapter } from '../adapter.ts';
import { type Contact, contactRow, profileOf } from '../contact.ts';
import { contactDataset } from '../contact-files.ts';
import type { CsvRow } from '../csv-rows.ts';
import { textOf } from '../values.ts';

const SOURCE = 'linkedin';
const PICTOGRAPHS = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|\u200d/gu;

export const linkedin: Adapter = {
  name: SOURCE,
  recognise: (head) =>
    contactDataset(head, ['First Name', 'Last Name', 'Position', 'Connected On'], readConnection),
};

function readConnection(row: CsvRow): SourceRow {
  const profile = profileOf(textOf(row.get('URL')));
  // `Smith, Jr.`, and `Lark, PhD` or `Lark, MBA, CFA`: of what follows a surname, only a generation is kept.
  const [surname = '', after = ''] = row.get('Last Name').split(',');
  const contact: Contact = {
    key: profile,
    name: cleanName(row.get('First Name')),
    surname: cleanName(surname),
    suffix: cleanName(after),
    emails: [textOf(row.get('Email Address'))],
    position: textOf(row.get('Position')),
    profile,
  };
  if (profile === undefined && contact.name === undefined && contact.surname === undefined) {
    return { line: row.line, reason: 'blank_member', source: row.source() };
  }
  return contactRow(SOURCE, { line: row.line, row, contact });
}

function cleanName(text: string): string | undefined {
  return textOf(text.replace(PICTOGRAPHS, '').replace(/\s+/g, ' '));
}
