/** The priced operations and the kinds of identifiers. Generated from src/core by `npm run docs`: do not edit. */

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
  {"name":"people.enrich","label":"Enrich people","price":1,"about":"Adds job title, company, emails, phone numbers and location.","identifiers":["professional_network","email","phone","twitter"]},
  {"name":"people.enrich-with-company","label":"Enrich people with their company","price":1,"about":"Adds the person and the company that employs them.","identifiers":["professional_network","email","phone","twitter"]},
  {"name":"people.mobile","label":"Find mobile numbers","price":8,"about":"Adds the mobile number of a person.","identifiers":["professional_network","email"]},
  {"name":"people.email-verify","label":"Verify work emails","price":1,"about":"Checks whether a work email is valid.","identifiers":["email"]},
  {"name":"companies.enrich","label":"Enrich companies","price":1,"about":"Adds industry, size and address; for rows with a UK company number also the directors.","identifiers":["registry_number","domain","professional_network","phone","name"]},
  {"name":"companies.logo","label":"Find company logos","price":1,"about":"Adds the URL of the logo.","identifiers":["registry_number","domain","professional_network","phone","name"]},
  {"name":"companies.financials","label":"Find company financials","price":1,"about":"Adds the latest financial period.","identifiers":["registry_number","domain","professional_network","phone","name"]},
];

/** Names of the kinds of identifiers. */
export const kindLabels: Readonly<Record<string, string>> = {
  email: "Email",
  phone: "Phone",
  professional_network: "Profile URL",
  twitter: "Handle",
  registry_number: "Company number",
  domain: "Domain",
  name: "Company name",
};
