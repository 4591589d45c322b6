import { describe, expect, test } from 'vitest';
import { guessLegacyEncoding } from './legacy-encoding.ts';
import { decodeWindows1252 } from './windows-1252.ts';

/** The bytes of a text in an encoding of one or two bytes a letter: the inverse of its decoder. */
function encode(text: string, encoding: string): Buffer {
  const table = tableOf(encoding);
  return Buffer.concat(
    [...text].map((letter) => {
      const bytes = letter < '\x80' ? Buffer.from(letter) : table.get(letter);
      if (bytes === undefined) throw new Error(`${encoding} has no ${letter}`);
      return bytes;
    }),
  );
}

const tables = new Map<string, Map<string, Buffer>>();

function tableOf(encoding: string): Map<string, Buffer> {
  const known = tables.get(encoding);
  if (known !== undefined) return known;
  const table = new Map<string, Buffer>();
  const decoder = new TextDecoder(encoding);
  const decode = (bytes: Buffer) =>
    encoding === 'windows-1252' ? decodeWindows1252(bytes) : decoder.decode(bytes);
  for (let lead = 0x80; lead < 0x100; lead++) {
    const one = decode(Buffer.from([lead]));
    if (one.length === 1 && one !== '\ufffd') table.set(one, Buffer.from([lead]));
    for (let trail = 0x40; trail < 0xff; trail++) {
      const pair = Buffer.from([lead, trail]);
      const two = decode(pair);
      if ([...two].length === 1 && two !== '\ufffd' && !table.has(two)) table.set(two, pair);
    }
  }
  tables.set(encoding, table);
  return table;
}

const lists: [encoding: string, language: string, rows: string[]][] = [
  ['windows-1251', 'Russian', ['Имя,Город', 'Иван Иванов,Москва', 'Анна Петрова,Казань']],
  ['windows-1251', 'Bulgarian, in capitals', ['ИМЕ,ГРАД', 'ГЕОРГИ ДИМИТРОВ,СОФИЯ', 'МАРИЯ,ВАРНА']],
  ['koi8-r', 'Russian', ['Имя,Город', 'Иван Иванов,Москва', 'Анна Петрова,Казань']],
  ['windows-1253', 'Greek', ['Όνομα,Πόλη', 'Γιώργος Παπαδόπουλος,Αθήνα', 'Μαρία,Πάτρα']],
  ['windows-1255', 'Hebrew', ['שם,עיר', 'יוסי כהן,תל אביב', 'מרים לוי,ירושלים']],
  ['windows-1256', 'Arabic', ['الاسم,المدينة', 'محمد العلي,القاهرة', 'فاطمة حسن,الرياض']],
  ['windows-1250', 'Polish', ['Imię,Miasto', 'Łukasz Wiśniewski,Kraków', 'Małgorzata Żak,Łódź']],
  ['windows-1250', 'Czech', ['Jméno,Město', 'Jiří Dvořák,Plzeň', 'Božena Němcová,Česká Lípa']],
  [
    'windows-1250',
    'Hungarian',
    ['Név,Város', 'Szűcs Győző,Győr', 'Tóth Erzsébet,Hódmezővásárhely'],
  ],
  ['windows-1254', 'Turkish', ['Ad,Şehir', 'Ayşe Yıldız,Muğla', 'Oğuz Şahin,Diyarbakır']],
  ['windows-1252', 'German', ['Name,Straße', 'Jürgen Müller,Königsallee', 'Änne Größ,Mühlweg – 3']],
  ['windows-1252', 'French', ['Prénom,Ville', 'Hélène Lefèvre,Orléans', 'François Côté,Besançon']],
  ['windows-1252', 'Spanish', ['Nombre,Ciudad', 'José Núñez,Málaga', 'Begoña Ibáñez,Cádiz']],
  [
    'windows-1252',
    'Portuguese',
    ['Nome,Cidade', 'João Conceição,São Luís', 'Inês Magalhães,Évora'],
  ],
  ['windows-1252', 'Danish', ['Navn,By', 'Søren Kjærgård,Århus', 'Jørgen Møller,Næstved']],
  ['windows-1252', 'Icelandic', ['Nafn,Borg', 'Guðrún Þórðardóttir,Reykjavík']],
  [
    'windows-1252',
    'many countries',
    ['Jürgen,Köln', 'Hélène,Orléans', 'José,Málaga', 'Søren,Århus'],
  ],
  ['windows-1252', 'one accent', ['name,price', 'René,12']],
  ['windows-1252', 'signs only', ['name,price', 'Bob’s – “Bar”,€ 12']],
  ['shift_jis', 'Japanese', ['名前,会社', '山田太郎,株式会社サンプル', '鈴木花子,東京電力']],
  ['euc-jp', 'Japanese', ['名前,会社', '山田太郎,株式会社サンプル', '鈴木花子,東京電力']],
  ['gb18030', 'Chinese', ['姓名,公司', '张伟,北京科技有限公司', '王芳,上海贸易有限公司']],
  ['big5', 'Chinese', ['姓名,公司', '陳大文,台灣科技股份有限公司', '王小明,香港貿易有限公司']],
  ['euc-kr', 'Korean', ['이름,회사', '김철수,서울전자 주식회사', '이영희,부산무역']],
];

describe('the guess', () => {
  test.each(lists)('is %s for a list in %s', (encoding, _, rows) => {
    const bytes = encode(`${rows.map((row) => `${row},x@list.example`).join('\n')}\n`, encoding);
    expect(guessLegacyEncoding(bytes)).toBe(encoding);
  });

  test('is not misled by a last line that the sample cuts', () => {
    const bytes = encode('名前,会社\n山田太郎,株式会社サンプル\n山', 'shift_jis');
    expect(guessLegacyEncoding(bytes.subarray(0, -1))).toBe('shift_jis');
  });

  test('is by the first 8 KiB of lines with letters outside ASCII', () => {
    const plain = Buffer.from('Ada Lovelace,London\n'.repeat(1_000));
    const first = encode('Иван Иванов,Москва\n'.repeat(450), 'windows-1251');
    const rest = encode('山田太郎,株式会社サンプル\n'.repeat(1_500), 'shift_jis');
    expect(guessLegacyEncoding(Buffer.concat([plain, first, rest]))).toBe('windows-1251');
    const oneLine = Buffer.concat([
      Buffer.alloc(20_000, 'a'),
      rest.filter((byte) => byte !== 0x0a),
    ]);
    expect(guessLegacyEncoding(oneLine)).toBe('shift_jis');
  });

  test('is Windows-1252 for bytes that look like nothing', () => {
    expect(guessLegacyEncoding(Buffer.from([0x80, 0x0a, 0xff, 0x0a]))).toBe('windows-1252');
    const random = Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 167 + 13) % 256));
    expect(guessLegacyEncoding(random)).toBe('windows-1252');
  });
});
