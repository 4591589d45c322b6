/** An example call of an operation: one line of curl with realistic values. */
import type { Operation, Schema } from './open-api-document.ts';

/** Values of parameters whose schema is only a string. */
const examples: Record<string, string> = {
  email: 'ada@acme.example',
  domain: 'acme.example',
  q: 'engin',
};

export function exampleCall(method: string, path: string, operation: Operation): string {
  const address = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => `$${name.toUpperCase()}`);
  const query = exampleQuery(operation);
  const lines = [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"$API${address}${query}"`,
    '-H "Authorization: Bearer $KEY"',
    ...exampleBody(operation),
  ];
  return lines.join(' \\\n  ');
}

function exampleQuery({ parameters, requestBody }: Operation): string {
  if (requestBody !== undefined) return '';
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const known = inQuery.find(({ name }) => examples[name] !== undefined);
  const needed = inQuery.filter((parameter) => parameter.required || parameter === known);
  const pairs = needed.map(({ name, schema }) => {
    const value = examples[name] ?? String(exampleOf(schema));
    return `${name}=${encodeURIComponent(value)}`;
  });
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function exampleBody({ requestBody }: Operation): string[] {
  const content = requestBody?.content ?? {};
  if (content['multipart/form-data'] !== undefined) {
    return ['-F operation=people.enrich', '-F file=@leads.csv'];
  }
  const schema = content['application/json']?.schema;
  if (schema === undefined) return [];
  const body = JSON.stringify(exampleOf(schema)).replaceAll("'", "'\\''");
  return ['-H "Content-Type: application/json"', `-d '${body}'`];
}

/** Returns a small valid value of a schema, with only the required members. */
function exampleOf(schema: Schema): unknown {
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [variant] = schema.anyOf ?? schema.oneOf ?? [];
  if (variant !== undefined) return exampleOf(variant);
  if (schema.items !== undefined) return [exampleOf(schema.items)];
  if (schema.properties !== undefined) {
    const required = new Set(schema.required);
    const entries = Object.entries(schema.properties).filter(([name]) => required.has(name));
    return Object.fromEntries(entries.map(([name, field]) => [name, exampleOf(field)]));
  }
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  if (schema.type === 'boolean') return true;
  return schema.type === 'object' ? {} : 'text';
}
