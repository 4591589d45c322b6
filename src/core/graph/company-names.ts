import { companyIdentifierCodes } from './identifier-kinds.ts';

/**
 * All names of a company `r`, the present one first, between unit separators. An alias that only its identifier keeps
 * comes last.
 */
export const companyNamesSql = `r.name, array_to_string(r.aliases, E'\\x1f'), array_to_string(r.former_names, E'\\x1f'),
  (select string_agg(i.value, E'\\x1f' order by i.value) from company_identifiers i
    where i.company_id = r.id and i.kind = ${companyIdentifierCodes.alias_name})`;
