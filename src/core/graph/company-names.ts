import { companyIdentifierCodes } from './identifier-kinds.ts';

/**
 * All names of a company `r`, the present one first, between unit separators. An alias that only its identifier keeps
 * comes last.
 */
export const companyNamesSql = `r.name, array_to_string(r.aliases, E'\\x1f'), array_to_string(r.former_names, E'\\x1f'),
  alias.names`;

/** The aliases of companies `r` that only their identifiers keep, for `companyNamesSql`: of one company by its index. */
export const aliasOfOneSql = `left join lateral (${aliasesSql('i.company_id = r.id')}) alias on true`;

/** As `aliasOfOneSql`, of many companies at once: in one pass, also while a bulk load has no index. */
export function aliasesOfManySql(condition: string): string {
  return `left join (${aliasesSql(condition)} group by i.company_id) alias on alias.company_id = r.id`;
}

function aliasesSql(condition: string): string {
  return `select min(i.company_id) as company_id, string_agg(i.value, E'\\x1f' order by i.value) as names
    from company_identifiers i where i.kind = ${companyIdentifierCodes.alias_name} and ${condition}`;
}
