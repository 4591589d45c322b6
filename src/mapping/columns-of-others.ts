/**
 * Columns of others: the address of a clerk, the page with the form, or the site of the vendor. Their values are few, and each
 * would identify one record for many rows, or they are not named as the companies of the rows are. In a list of contacts, of whom
 * many have one employer, a column of few values may be of the rows' own companies.
 */
import { normaliseCompanyName } from '../core/identifiers/company-name.ts';
import {
  type IdentifierKind,
  isIdentifierKind,
  normaliseIdentifier,
} from '../core/identifiers/identifier.ts';
import { type ColumnRole, foldColumnName } from './column-names.ts';
import type { HeaderToken } from './column-words.ts';
import type { ColumnView, ListHead } from './read-columns.ts';

/** Of this many rows in one, a column's values are those of others. */
const ROWS_OF_ONE = 5;
/** Of four companies in five the site has the first word of the name: of a column of few values half of them must. */
const NAMED_SHARE_MIN = 0.5;
/** Below this share a column whose header is not known word by word is of others, however many. */
const STRANGE_SHARE_MAX = 0.1;
const TELLING_LETTERS_MIN = 3;
const REPEATED_ROWS_MIN = 4;
const EACH_SHARE_MIN = 0.8;

/** Returns the columns that are of others than the rows; `kindOf` is the kind of a column's values. */
export function columnsOfOthers(
  list: ListHead,
  views: readonly ColumnView[],
  subject: 'person' | 'company',
  kindOf: (view: ColumnView) => string,
): ReadonlySet<ColumnView> {
  const names = views.filter(({ reading: { role } }) => /^(?:company_)?name$/.test(role ?? ''));
  const named = subject === 'company' ? names : [];
  const others = views.filter((view) => {
    const kind = kindOf(view);
    if (!isIdentifierKind(kind)) return false;
    if (view.header !== null) return isOfOthers(list, kind, view, named);
    const alike = views.filter((other) => other !== view && kindOf(other) === kind);
    return subject === 'person' && isRepeated(view) && alike.some(isOfEachRow);
  });
  return new Set(others);
}

/** Without a header, the column of the reps and that of the leads differ in this: one rep has several leads. */
function isRepeated({ content: { filled, different } }: ColumnView): boolean {
  return filled >= REPEATED_ROWS_MIN && different * 2 <= filled;
}

function isOfEachRow({ content: { filled, different } }: ColumnView): boolean {
  return different >= filled * EACH_SHARE_MIN;
}

/** Returns true for a column of few values, or of a doubtful header, that is not named as the companies of the rows are. */
function isOfOthers(
  { sample }: ListHead,
  kind: IdentifierKind,
  { column, reading, content: { filled, different } }: ColumnView,
  names: readonly ColumnView[],
): boolean {
  if (filled < ROWS_OF_ONE) return false;
  const isOfFew = different * ROWS_OF_ONE <= filled;
  if (!isOfFew && reading.isExact) return false;
  const shares = names.flatMap((name) => {
    const named = sample
      .map((row) => isNamedAs(kind, row[column - 1] ?? '', row[name.column - 1] ?? ''))
      .filter((is) => is !== null);
    return named.length < ROWS_OF_ONE ? [] : [named.filter(Boolean).length / named.length];
  });
  const share = Math.max(...shares);
  return isOfFew ? share < NAMED_SHARE_MIN : shares.length > 0 && share < STRANGE_SHARE_MAX;
}

/** Null when the texts cannot tell: one is missing, or the name has no letters of a host. */
function isNamedAs(kind: IdentifierKind, text: string, name: string): boolean | null {
  const value = nameInValue(kind, text);
  const company = normaliseCompanyName(name);
  if (value === '' || !('values' in company)) return null;
  const joined = plain(company.values[0]);
  if (!/^[a-z\d]+$/.test(joined)) return null;
  const word = plain(company.values[0].split(' ', 1)[0] ?? '');
  return value === joined || (word.length >= TELLING_LETTERS_MIN && value.includes(word));
}

/** The part of a value that may be the company's name; '' for kinds that have none, such as numbers. */
function nameInValue(kind: IdentifierKind, text: string): string {
  if (kind !== 'domain' && kind !== 'email' && kind !== 'professional_network') return '';
  const of = kind === 'email' ? 'domain' : kind;
  const normalised = normaliseIdentifier(of, text, { subject: 'company' });
  if (!('values' in normalised)) return '';
  const [value] = normalised.values;
  return plain(of === 'domain' ? value.slice(0, value.lastIndexOf('.')) : value);
}

/** Letters and digits; `mueller` and `müller` are one. */
function plain(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, '').replace(/([aou])e/g, '$1');
}

/**
 * Words for someone whom the rows of others name: their landlord, doctor or mother, and the auditor or supplier of a company. A
 * list may as well be of landlords, and then its names are theirs.
 */
const relations = {
  person:
    wordSet(`mother father mom mum dad wife husband sister brother mutter vater eltern ehefrau ehemann ehepartner
    lebenspartner mere pere epouse epoux conjoint madre padre esposa esposo marido moglie marito carer caregiver
    landlord vermieter hausverwaltung makler realtor broker doctor physician gp dentist arzt hausarzt medecin medico
    lawyer attorney solicitor counsel anwalt rechtsanwalt avocat abogado avvocato notary notar notaire executor trustee nominee
    accountant steuerberater insurer advisor adviser employer arbeitgeber employeur vendor supplier lieferant fournisseur
    proveedor fornitore dealer distributor contractor installer technician courier driver fahrer teacher lehrer coach mentor
    tutor instructor trainer witness zeuge reference referee gatekeeper concierge notfallkontakt sachbearbeiter besitzer
    responsable partner guarantor author submitter requester sponsor host organizer organiser inviter nanny
    child son daughter dependent beneficiary coworker caseworker socialworker supportworker keyworker referral referring editor
    friend roommate neighbor neighbour sibling uncle aunt grandparent
    seller dispatcher operator moderator admin administrator escalation prescriber underwriter companion ambassador affiliate
    influencer publisher photographer consultant leader headteacher buyer purchaser guest lender sourcer coordinator
    sekretariat verantwortlicher verantwortliche zustandiger zustandig zustandige zustandigen bearbeiter erziehungsberechtigter
    erziehungsberechtigte erziehungsberechtigten vermittler empfehler werber aussendienst aussendienstmitarbeiter innendienst
    vertriebsmitarbeiter berater kundenberater absender geschaftspartner burge teamleiter projektleiter abteilungsleiter
    secretaire gestionnaire commercial commerciale parrain tuteur superieur representant apporteur referent conseiller
    bailleur expediteur prescripteur courtier formateur collegue charge urgence prevenir
    secretaria secretario conyuge gerente comercial representante agente asesor ejecutivo encargado acudiente apoderado
    remitente emergencia asistente referido
    segretaria segretario coniuge responsabile capo agente venditore tutore consulente mittente emergenza rappresentante
    commercialista
    conjuge chefe responsavel pai mae consultor advogado fornecedor remetente corretor dono gestor contador indicado
    secretaresse echtgenoot echtgenote vertegenwoordiger vader moeder ouder voogd huisarts advocaat leverancier afzender
    begeleider noodcontact relatiebeheerder adviseur tussenpersoon
    sekretarka malzonek maz zona kierownik przedstawiciel ojciec matka rodzic sprzedawca doradca lekarz prawnik dostawca
    nadawca ksiegowy awaryjny
    sekreterare make maka chef handlaggare far mor foralder vardnadshavare radgivare lakare advokat leverantor avsandare
    nodkontakt maklare revisor kundansvarig`),
  company:
    wordSet(`acquirer acquiror auditor shareholder investor holding sister related similar insurer bank broker landlord
    vermieter accountant steuerberater registrar sponsor supplier vendor lieferant fournisseur proveedor fornitore distributor
    importer exporter manufacturer hersteller provider agency referral referring`),
} as const;

/** `E-mail comercial 2` is that of the lead's work, `Email del comercial` that of a salesperson. */
const BUSINESS_CONTACT =
  /(?<=\p{L} )(?<!\b(?:del|do|dello?|della|el|il|o) )(?:comercial|commerciale)(?= \d+$|$)/u;
/** The name of the shop: `Nombre comercial`. */
const TRADING_NAME = /^(?:nombre|nome|nom) (?:comercial|commerciale?)$/;

function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

const nameTokens: Readonly<Record<'person' | 'company', readonly HeaderToken[]>> = {
  person: ['name', 'forename', 'surname'],
  company: ['name'],
};

/** Names of these are beside those of the rows: `School Name, Teacher Name, Teacher Email` is a list of teachers. */
const things = wordSet(
  'product produkt produit producto brand marke marque marca program programme project event course',
);
const places =
  wordSet(`school schule ecole escuela colegio scuola escola skolans szkoly practice praxis praktijk cabinet kanzlei kantoor
  kontor kancelarii gabinetu studio agency agence agencia agenzia hospital clinic klinik clinica brokerage dealership
  property building
  store shop tienda loja negozio magasin boutique winkel sklepu branch filiale filial sucursal oddzialu office oficina escritorio
  unidade gym salon club verein vereins association asociacion associazione associacao vereniging foreningens church igreja
  university college team establishment etablissement einrichtung kita imobiliaria fantasia trade dba facility firm restaurant
  restaurante hotel venue room listing residence bank fund startup retailer chain charity ministry district county city state
  country region territory area department unit chapter troop group league workspace tenant domain site website page channel
  podcast show episode blog book journal magazine publication paper article newspaper file list form submission campaign session
  panel webinar meeting conference festival race tour formation projet projekt proyecto evento category class cohort plan
  service item ticket franchise gebiet regionu plant fleet truck boat street community gruppe`);
/** These are whom the rows name, also where they are no name by the grammar: `Team Member Name`, `Student`. */
const members = wordSet(
  `member participant attendee delegate student pupil player user patient client customer resident captain pastor founder promoter
  registrant mitglied teilnehmer schuler spieler membre eleve joueur miembro socio alumno jugador membro aluno jogador studente
  alunno lid leerling deelnemer speler uczen uczestnik medlem elev deltagare`,
);
/** Names in an order beside that of its buyer. */
const parties = wordSet('recipient ship shipping billing delivery');
const beside = { person: new Set([...things, ...places]), company: things };

const names: Readonly<Record<'person' | 'company', readonly (ColumnRole | null)[]>> = {
  person: ['name', 'full_name', 'first_name', 'last_name'],
  company: ['name', 'company_name'],
};

/**
 * Returns the columns of a list without those of a relation (`Landlord Phone`, `Auditor Company Number`), unless its names, or
 * without names all its identifiers, are of that relation.
 */
export function withoutRelations(
  views: readonly ColumnView[],
  subject: 'person' | 'company',
  identifiers: readonly string[],
): ColumnView[] {
  const relationOf = (view: ColumnView) => wordOf(view, relations[subject]);
  const identifies = ({ reading: { role } }: ColumnView) => identifiers.includes(role ?? '');
  const isBeside = (view: ColumnView) =>
    relationOf(view) === undefined &&
    wordOf(view, beside[subject]) !== undefined &&
    wordOf(view, members) === undefined &&
    !view.reading.tokens.has('person');
  // `Landlord Name` and `Driver First Name` have no role.
  const isName = (view: ColumnView) => {
    const { role, tokens } = view.reading;
    if (names[subject].includes(role)) return true;
    const isNamed = nameTokens[subject].some((token) => tokens.has(token));
    return role === null && isNamed && !isBeside(view);
  };
  const isBare = ({ header, reading: { role } }: ColumnView) =>
    role === null && relations[subject].has(foldColumnName(header ?? ''));
  const contacts = views.filter(identifies);
  const [first] = contacts;
  // Such a column says what the rows are: `Supplier, Website, Supplier Phone`, `Podcast, Host, Host Email, LinkedIn`.
  const isHead = (view: ColumnView) => {
    if (!isBare(view)) return false;
    if (subject === 'company') return view.column === 1;
    return first !== undefined && relationOf(first) === relationOf(view) && areOfOne(contacts);
  };
  const isMember = ({ header, reading: { role } }: ColumnView) =>
    subject === 'person' && role === null && members.has(foldColumnName(header ?? ''));
  const named = views.filter((view) => isName(view) || isHead(view) || isMember(view));
  const ofNames = named.map(relationOf);
  const buyer = ofNames.find((relation) => relation === 'buyer' || relation === 'purchaser');
  const of =
    named.length > 0
      ? named.map((view) => relationOf(view) ?? (wordOf(view, parties) && buyer))
      : contacts.map(relationOf);
  const own = of.includes(undefined) ? undefined : of[0];
  return views.filter((view) => {
    const { role } = view.reading;
    // A column `Employer` is of companies, and context. Sites and pages of companies are compared with the names.
    const isDoubtful =
      subject === 'person'
        ? identifies(view) || role === null
        : role === 'phone' || role === 'registry_number';
    const relation = isDoubtful && !isName(view) ? relationOf(view) : undefined;
    return relation === undefined || (own !== undefined && stemOf(relation) === stemOf(own));
  });
}

/** Returns the first word of a header, or two as one, that is among these. */
function wordOf({ header }: ColumnView, words: ReadonlySet<string>): string | undefined {
  const all = foldColumnName(header ?? '')
    .replace('registrar of companies', 'register')
    .replace(TRADING_NAME, 'shop')
    .replace(BUSINESS_CONTACT, '')
    .split(' ');
  const joined = all.flatMap((word, index) => [word, word + (all[index + 1] ?? '')]);
  return joined.find((word) => words.has(word));
}

/** The contacts behind that of a host are the host's, unless a header says that they are another's, such as a customer's. */
function areOfOne(contacts: readonly ColumnView[]): boolean {
  return contacts.every((view, index) => {
    const { isExact, tokens } = view.reading;
    const isPlain = isExact && !tokens.has('filler');
    const isBehind = view.column === (contacts[0]?.column ?? 0) + index;
    return isBehind && (isPlain || wordOf(view, relations.person) !== undefined);
  });
}

/** `Erziehungsberechtigter` and `Erziehungsberechtigte` are one. */
function stemOf(word: string): string {
  return word.replace(/e[nrs]?$/, '');
}
