/** The priced operations. Generated from src/core/operations.ts by `npm run docs`: do not edit. */

/** Credits of a person of a search or an export. */
export const PERSON_PRICE: number = 1;

interface PricedOperation {
  name: string;
  label: string;
  /** Credits of a match. */
  price: number;
  /** The data that a match brings. */
  about: string;
  /** Kinds of columns by which it finds whom a row means, the most trusted first. */
  identifiers: readonly string[];
}

/** The operations that can be asked about the rows of a list. */
export const operations: readonly PricedOperation[] = [
  {"name":"people.enrich","label":"Enrich people","price":1,"about":"The person: position, company, e-mails, phones, place.","identifiers":["professional_network","email","phone","twitter"]},
  {"name":"people.enrich-with-company","label":"Enrich people with their company","price":1,"about":"The person, and the company that employs them.","identifiers":["professional_network","email","phone","twitter"]},
  {"name":"people.mobile","label":"Find mobile numbers","price":8,"about":"The mobile number of a person.","identifiers":["professional_network","email"]},
  {"name":"people.email-verify","label":"Verify work e-mails","price":1,"about":"Whether a work e-mail is valid.","identifiers":["email"]},
  {"name":"companies.enrich","label":"Enrich companies","price":1,"about":"The company: industry, size, address, directors of UK companies.","identifiers":["registry_number","domain","professional_network","phone","name"]},
  {"name":"companies.logo","label":"Find company logos","price":1,"about":"The address of the logo.","identifiers":["registry_number","domain","professional_network","phone","name"]},
  {"name":"companies.financials","label":"Find company financials","price":1,"about":"The latest financial period.","identifiers":["registry_number","domain","professional_network","phone","name"]},
];
