/** Addresses that several people read: each may be the one that a row names. */

/** Mailboxes that belong to a function and not to a person, and texts that stand for no address, by language. */
const sharedMailboxes = new Set(
  `info contact contacts office admin administration administrator sales support help helpdesk hello mail email enquiries enquiry
  inquiries inquiry accounts accounting billing finance hr jobs careers career press media marketing reception team service
  services post postmaster webmaster hostmaster noreply reply secretary secretariat general central customer customerservice
  booking bookings orders order invoice invoices invoicing payroll purchasing procurement recruitment recruiting events news
  newsletter legal privacy security abuse feedback shop store web website online export import logistics family home
  kontakt vertrieb verkauf einkauf buchhaltung rechnung rechnungen verwaltung sekretariat zentrale personal bewerbung bewerbungen
  empfang anfrage anfragen bestellung bestellungen presse datenschutz werkstatt kundenservice kundendienst praxis kanzlei
  hallo familie
  bonjour accueil contactez ventes vente commercial comptabilite compta facturation direction secretariat achats recrutement
  rh mairie cabinet famille
  hola contacto ventas venta comercial administracion comunicacion contabilidad facturacion facturas compras recepcion rrhh
  direccion pedidos atencion familia
  contatti informazioni vendite commerciale amministrazione contabilita fatturazione acquisti segreteria ufficio ordini
  contato vendas administracao contabilidade financeiro faturacao compras geral secretaria
  verkoop inkoop boekhouding administratie facturen receptie klantenservice secretariaat
  firmapost kontor salg regnskab faktura fakturor kundeservice kundservice ekonomi forsaljning inkop bestallning myynti
  laskutus toimisto asiakaspalvelu biuro sprzedaz ksiegowosc sekretariat obchod prodej ucetni uctarna muugi raamatupidamine
  none noemail nomail unknown null na test example anonymous`.split(/\s+/),
);
const PARTS = /[._+-]/;
/** After the word of a function: a country or a region. */
const REGION = /^[a-z]{2,4}$/;
/** Before it: a country. A given name has three letters. */
const COUNTRY = /^[a-z]{2}$/;

/** Returns true for a canonical address that is the mailbox of a function: `info@`, `sales-uk@`, `uk-sales@`, `info2@`. */
export function isSharedMailbox(email: string): boolean {
  const parts = email
    .slice(0, email.indexOf('@'))
    .replace(/\d+/g, '')
    .split(PARTS)
    .filter((part) => part !== '');
  if (parts[0] === 'no' && parts[1] === 'reply') return true;
  const isFunction = (part: string) => sharedMailboxes.has(part);
  const start = parts.findIndex(isFunction);
  if (start === -1 || start > 1 || (start === 1 && !COUNTRY.test(parts[0] ?? ''))) return false;
  return parts.slice(start).every((part) => isFunction(part) || REGION.test(part));
}

const NO_ADDRESS =
  /^(?:no[._-]?(?:e?mail|reply)|do[._-]?not[._-]?reply|none|null|nan|unknown|anonymous)\d*@/;

/** Returns true for a canonical address that stands for none: `noreply@`, `none@`. */
export function standsForNone(email: string): boolean {
  return NO_ADDRESS.test(email);
}
