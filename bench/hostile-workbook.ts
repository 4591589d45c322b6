/** A small workbook with much text in it: the archive stays below the growth that the service refuses. */
import { createHash } from 'node:crypto';
import { zipStream } from '../src/formats/xlsx/zip-stream.ts';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships';

/** One text in so many characters is new to the compressor, which makes the archive 80 times smaller than its parts. */
const NEW_CHARACTERS = 10;
const TEXT_CHARACTERS = 1000;

/** A workbook with one short column and `strings` shared strings of 1,000 characters. */
export async function hostileWorkbook(strings: number): Promise<Buffer> {
  const members = [
    { name: '_rels/.rels', bytes: [relationsXml('officeDocument', 'xl/workbook.xml')] },
    {
      name: 'xl/workbook.xml',
      bytes: [
        Buffer.from(
          `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="One" sheetId="1" r:id="worksheet"/></sheets></workbook>`,
        ),
      ],
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      bytes: [relationsXml('worksheet', 'sheet.xml', 'sharedStrings', 'strings.xml')],
    },
    { name: 'xl/strings.xml', bytes: stringsXml(strings) },
    { name: 'xl/sheet.xml', bytes: [sheetXml(strings)] },
  ];
  const blocks: Buffer[] = [];
  for await (const block of zipStream(members)) blocks.push(block);
  return Buffer.concat(blocks);
}

function relationsXml(...pairs: string[]): Buffer {
  let xml = `<Relationships xmlns="${RELATIONS}">`;
  for (let at = 0; at < pairs.length; at += 2) {
    const [type, target] = pairs.slice(at);
    xml += `<Relationship Id="${type}" Type="${OFFICE}/${type}" Target="${target}"/>`;
  }
  return Buffer.from(`${xml}</Relationships>`);
}

function* stringsXml(strings: number): Generator<Buffer> {
  yield Buffer.from(`<sst xmlns="${MAIN}"><si><t>email</t></si>`);
  const filling = 'x'.repeat(TEXT_CHARACTERS - NEW_CHARACTERS);
  for (let index = 0; index < strings; index++) {
    const hash = createHash('sha256').update(String(index)).digest('base64url');
    yield Buffer.from(`<si><t>${hash.slice(0, NEW_CHARACTERS)}${filling}</t></si>`);
  }
  yield Buffer.from('</sst>');
}

/** The header, and a cell for every thousandth string. */
function sheetXml(strings: number): Buffer {
  let xml = `<worksheet xmlns="${MAIN}"><sheetData>`;
  for (let index = 0; index < strings; index += 1000) {
    xml += `<row><c t="s"><v>${index}</v></c></row>`;
  }
  return Buffer.from(`${xml}</sheetData></worksheet>`);
}
