/** Words beside and in names: titles, degrees, particles, and those that name no person. */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Before a name. */
export const titles = words(`
  mr mrs ms miss mx dr prof professor sir dame rev reverend revd hon honourable honorable rt the lord lady
  baroness baron viscount earl count countess duke duchess prince princess sheikh sheikha
  ing dipl mag herr frau mme mlle monsieur madame me sra srta sr dona sig dott dottssa dottore dra
  avv gen general col colonel capt captain maj lt sgt cmdr adm senator sen rep representative
  congressman congresswoman delegate assemblyman assemblywoman speaker mayor governor
  councillor cllr councilmember alderman justice rabbi imam pastor fr
  shri smt sri dato datuk datin tan tun haji hajja judr mudr mgr phdr rndr paeddr thdr univ mult habil
  bc drs ir eng engr arch arq lic adv advocate ambassador
`);
/** Titles that are given names as well. */
export const namesToo = words(`
  arch baron col countess dato dona duke earl eng gen haji hon imam ing justice lady mag maj pastor prince princess rabbi sen
  sheikh sheikha shri sig sri tan tun
`);
/** Suffixes that are given names as well: `Rahman, Md`. */
export const suffixedNames = words('jd jr junior kc md');
/** After a name. */
export const suffixes = words(`
  jr sr junior senior ii iii iv esq phd md mba mp mep mla mpp msp bsc msc jd llb llm dds dmd dvm
  rn cpa cfa obe mbe cbe kbe dbe qc kc oam csc drsc dphil fca acca mbbs frcs edd psyd lcsw pmp cissp
  msn bcom mcom retd ret fcipd mcipd cipd csi candsc
`);
/** Degrees that are read only where their letters are apart, `M.A.`: `Ma` is a name. */
export const lettersOfDegrees = words(`
  ba bds bed beng bpharm bs dba dc dmin dnp do dpm frcp frcs frics frs lld ma mdiv med meng mphil mrics ms msw od pe pgce pharmd
  scd thd
`);
/** Parts of these of more than a letter: `Ph. D.`. In `M. Ba` it is a name. */
export const partsOfDegrees = words('com div ed eng ll med min ph pharm phil psy sc th');
export const generations: ReadonlyMap<string, string> = new Map([
  ['jr', 'jr'],
  ['jnr', 'jr'],
  ['junior', 'jr'],
  ['sr', 'sr'],
  ['snr', 'sr'],
  ['senior', 'sr'],
  ['ii', 'ii'],
  ['iii', 'iii'],
  ['iv', 'iv'],
]);
/** A part after a whole name and a comma that starts so describes the person. */
export const ranks = words('baroness baron lord lady viscount earl baronet duke count');
export const particles = words(`
  de da do das dos del della di du la le les el al bin ibn binti bint van von der den ter ten zu af av vom zum
  mc mac o st san abu ben
`);

/** Words of a name column that name no person. */
export const nonPersons = words(`
  unknown not available provided none no name na n a null nil tbd tbc test anonymous info xxx xx asdf foo bar
  information sales team office reception front desk account accounts payable receivable support
  service services customer client department dept admin administration marketing enquiries inquiries
  contact general hr human resources press media help it mailbox shared user sample example demo dummy
  owner the to whom may concern n/a
`);
export const jobWords = words(`
  director manager head chief officer president vice executive assistant secretary chairman chairwoman chair
  engineer developer consultant analyst accountant partner associate senior junior lead principal specialist
  coordinator administrator supervisor clerk buyer ceo cfo cto coo cio cmo vp svp evp md owner founder cofounder
  of and for the sales marketing finance financial operations operating human resources hr it people global
  group managing regional general technical technology information product project programme program business
  development commercial legal counsel company deputy acting interim member board trustee staff nurse teacher
`);
export const companyWords = words(`
  ltd limited inc incorporated llc llp plc corp corporation gmbh ag ab oy oyj bv nv srl spa sarl sas company co
  holdings holding group university college school hospital council bank trust foundation association institute
  society ministry department services solutions systems technologies partners ventures capital industries
  international enterprises consulting
`);

/** Titles that are no name of a person. */
export const titlesAlone = words('mr mrs ms dr prof ceo cfo cto coo cio cmo vp svp evp');

export const companyForms = words(
  'ltd limited inc incorporated llc llp plc corp corporation gmbh oyj srl sarl university hospital council foundation association institute solutions technologies',
);
