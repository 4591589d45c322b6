/**
 * The words of column names by token: here those that describe a column, and in each identifier kind its own, whose token
 * is the kind. Words are written folded (lower case, no accents), a phrase as one word:
 * `website` is also found in `Web Site`. Compound words need no entry when their parts have one.
 */

import { ofEachKind } from './column-kinds.ts';

const words = {
  ...ofEachKind(({ words }) => words),
  mobile: `mobile mobil mobiel cell cellphone cellular cellulare celular movil portable gsm
    handy telemovel komorka komorkowy komorkowa mobilnr mobiltelefon 携帯 携帯電話 手机 手机号 手机号码
    移动电话`,
  direct: `direct direkt directo direkte direkter bezposredni`,
  direct_line: `directline directdial ddi did durchwahl`,
  switchboard: `switchboard hq headquarter headquarters main mainline central centrale
    zentrale standard reception rezeption general centralita centralino centraal hoved
    hauptnummer vaxel 代表`,
  profile: `profile profil perfil profilo profiel プロフィール 个人主页`,
  x: `x xcom`,
  handle: `handle screenname`,
  number: `number no nr num numero nummer numer n 番号 号码`,
  code: `code kod codigo codice iso kode`,
  website: `website webseite websted web site sitio sito siteweb sitioweb sitoweb webpage
    paginaweb homepage internetadresse internet www webadresse hjemmeside hemsida webbplats
    webbsida strona stronawww stronainternetowa witryna ウェブサイト ホームページ サイト 网站 网址 官网`,
  url: `url link uri lien enlace lank`,
  country: `country countryregion land pays pais paese kraj nation 国 国名 国家`,
  region: `region`,
  city: `city town ort stadt ville ciudad citta cidade plaats miasto`,
  company: `company companies organisation organization org organizacja employer firm firma
    firmen firmy unternehmen unternehmens gesellschaft arbeitgeber societe entreprise
    employeur empresa compania organizacion azienda societa ditta impresa empregador
    organizacao bedrijf bedrijfs organisatie werkgever onderneming przedsiebiorstwo
    pracodawca foretag foretags virksomhed virksomheds selskab corporate corporation
    raisonsociale razonsocial ragionesociale razaosocial denominationsociale 会社 会社名 取引先 取引先名 組織 組織名 企業 企業名
    法人名 勤務先 公司 公司名 公司名称 企业 企业名称 单位名称`,
  account: `account compte cuenta`,
  legal: `legal trading registered juridical official`,
  name: `name names nom nombre nome naam navn namn nazwa 名称 名前 名字`,
  first: `first given primer primeiro`,
  forename: `forename vorname vornamen vor prenom voornaam fornavn fornamn imie firstname
    fname givenname primeironome christianname 名`,
  last: `last family famille familia`,
  surname: `surname nachname nach familienname apellido apellidos cognome sobrenome apelido
    achternaam efternamn efternavn etternavn nazwisko lastname lname familyname nomdefamille
    姓 氏`,
  middle: `middle middlename mellemnavn`,
  full: `full complete completo complet whole vollstandiger volledige fuld 氏名 姓名 お名前 フルネーム
    担当者名`,
  person: `person contact lead prospect kontakt kontaktperson contactpersoon contacto
    contatto contato ansprechpartner ansprechperson interlocuteur interlocutor referente
    people individual employee personne candidate persona persoon persoons 人 人物 担当者 联系人`,
  work: `work working business office professional professionnel professionnelle profesional
    profissional professionale geschaftlich geschaftliche geschafts geschaftstelefon
    dienstlich dienstliche beruflich arbeit arbeits arbete arbejde arbejds jobb zakelijk
    zakelijke werk trabajo trabalho lavoro bureau buro oficina ufficio travail pro sluzbowy
    sluzbowa laboral bus laborale aziendale 勤務 仕事 工作 办公`,
  personal: `personal private privat privata privato prive personnel personnelle personale
    pessoal prywatny prywatna particular privado persoonlijk personlig privater 个人 個人`,
  home: `home casa domicile domicilio prywatnie thuis hem hjem zuhause 自宅`,
  primary: `primary preferred default pardefaut current new latest principal principale primaire primario best hoofd
    primar hauptsachlich`,
  secondary: `secondary second secondaire secundair secundaire secundario secondario other additional alternative
    alternate alternatif alt tertiary autre otro altro weitere weiterer andere zweite backup
    old extra inny`,
  billing: `billing shipping mailing invoice rechnung facturation`,
  address: `address adresse adres adress indirizzo direccion endereco anschrift 住所 地址 アドレス`,
  foreign: `owner rep representative ae ea pa guardian kin colleague interviewer fax telefax faxnummer telefaks telecopie manager
    assistant assistants assistent assistentin parent previous prev former past by referrer
    referred emergency competitor subsidiary recruiter sender cc bcc vertreter betreuer
    inhaber proprietaire propietario supervisor boss agent creator assigned assignee
    ultimate reseller spouse champion sdr bdr csm accountexecutive approver introducer referer
    secretary sekretarin vorgesetzter vorgesetzte salesperson reports ansvarig ansvarlig eier ejer saljare
    selger saelger sjef verantwoordelijke eigenaar verkoper leidinggevende verkaufer vendeur assistante jefe
    vendedor handlowiec handlowca opiekun opiekuna przelozony przelozonego asystent
    asystentka assistente asst reporting owning referralpartner referringpartner proprietario eigentumer wlasciciel wlasciciela
    agare agarens saljarens assistenz par door przez toegewezen erstellt angelegt geandert bearbeitet
    zugewiesen empfohlen cree modifie attribue assigne recommande creado modificado asignado referidopor recomendado criado
    atribuido indicadopor creato modificato assegnato segnalato utworzony zmodyfikowany przypisany polecony polecajacy skapad
    andrad tilldelad refererad ファックス 传真 ファクス 紹介者 上司 秘書 営業担当 営業担当者 所有者 推荐人 介绍人 上级 助理 业务员`,
  other_network: `facebook fb instagram ig xing github gitlab youtube tiktok crunchbase
    pinterest skype wechat telegram snapchat reddit medium angellist mastodon bluesky
    threads vimeo blog rss feed`,
  attribute: `status verified verification valid validity validation confidence type typ
    date datum fecha time timestamp score source quelle id ids uuid guid key count size
    employees revenue turnover industry sector branche branch state province provincia county zip zipcode postcode
    postal plz cap street strasse rue calle via straat ulica title jobtitle titel titre
    titolo titulo position posicion funktion function role rolle job beruf seniority
    department departement abteilung notes note notizen notiz comment comments kommentar
    bemerkung bemerkungen remark remarks observations tag tags description descr summary bio
    about language sprache gender geschlecht age birth birthday born nationality citizenship
    created updated modified changed opt optin optout consent unsubscribed subscribed
    bounced bounce sent opened clicked replied quality image picture photo avatar logo
    headline connections followers following founded year amount stage lifecycle segment
    list campaign hash extension ext durchwahlnr password prefix suffix salutation anrede
    honorific vat tax ust ustid uid iva nip tva duns ein cif nif sic naics currency
    latitude longitude timezone calling dialling dialing area username user activity
    contacted history landing referralurl referrallink referralsite referralpage referraldomain referralwebsite
    referringurl referringlink referringsite referringpage referringdomain referringwebsite article news press review tracking
    部署 役職 職位 职位 备注 備考 都市 城市 性别`,
  filler: `of the de la le les l du des del della dello dei da dos das der die den van het
    di d a an and et y e i und en og och o paa for fur pour per para your value associated
    column field is this ihre votre customer client kunde kunden klient cliente klant の info
    data 的`,
} as const;

export type HeaderToken = keyof typeof words;

const WORD_CHARACTERS_MIN = 3;
const IS_CJK = /[\u3040-\u30ff\u3400-\u9fff]/;

const tokens: ReadonlyMap<string, HeaderToken> = new Map(
  Object.entries(words).flatMap(([token, text]) =>
    text.split(/\s+/).map((word): [string, HeaderToken] => [word, token as HeaderToken]),
  ),
);
const longest = Math.max(...[...tokens.keys()].map((word) => word.length));

/** The token of a folded word, or undefined. */
export function tokenOfWord(word: string): HeaderToken | undefined {
  return tokens.get(word);
}

/**
 * The longest known word at `from` in a compound, so that the rest can still be cut: `emailaddress` is `email`
 * and `address`. Short words are not sought inside Latin ones.
 */
export function longestWord(
  text: string,
  from: number,
): { token: HeaderToken; length: number } | null {
  for (let length = Math.min(longest, text.length - from); length > 0; length--) {
    const part = text.slice(from, from + length);
    const token = tokens.get(part);
    if (token === undefined) continue;
    if (length >= WORD_CHARACTERS_MIN || IS_CJK.test(part)) return { token, length };
  }
  return null;
}

/** The table as written, for its test. */
export function knownWords(): [HeaderToken, string[]][] {
  return Object.entries(words).map(([token, text]) => [token as HeaderToken, text.split(/\s+/)]);
}
