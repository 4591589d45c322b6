/**
 * Columns of someone who stands in a relation to the rows: `Landlord Phone`, `Auditor Company Number`. Their headers say so; a
 * list may as well consist of such people or companies.
 */
import { type ColumnRole, foldColumnName } from './column-names.ts';
import type { HeaderToken } from './column-words.ts';
import type { ColumnView } from './read-columns.ts';

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
