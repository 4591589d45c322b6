/** The TypeScript types of the HTTP API, for what calls it: written from the OpenAPI document. */

/** The keywords of a JSON schema that say what a value is; the others bound it. */
interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  const?: unknown;
  enum?: unknown[];
  type?: string | string[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | false;
  description?: string;
}

interface Content {
  content?: Record<string, { schema?: Schema }>;
}

interface Operation {
  parameters: { name: string; in: string; required: boolean; schema: Schema }[];
  requestBody?: Content;
  responses: Record<string, Content>;
}

interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/**
 * Renders an interface for each named schema, and `Calls`: the query, the JSON body and the JSON response of each
 * operation, by method and path. Values that are bytes are left out.
 */
export function renderApiTypes(document: object): string {
  const { paths, components } = document as ApiDocument;
  const named = Object.entries(components.schemas).map(
    ([name, schema]) => `export interface ${name} ${typeOf(schema, 0)}\n`,
  );
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const type = typeOf(callOf(operation), 1);
      return `  '${method.toUpperCase()} ${path}': ${type};\n`;
    }),
  );
  return [
    '/** The JSON of the HTTP API. Generated from the OpenAPI document by `npm run docs`: do not edit. */\n',
    ...named,
    `/** The request and responses of each call. */\nexport interface Calls {\n${calls.join('')}}\n`,
  ].join('\n');
}

/** A call as the schema of an object. */
function callOf({ parameters, requestBody, responses }: Operation): Schema {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const body = jsonOf(requestBody);
  const [success] = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const response = jsonOf(success?.[1]);
  const members = {
    ...(query.length > 0 && {
      query: {
        type: 'object',
        properties: Object.fromEntries(query.map(({ name, schema }) => [name, schema])),
        required: query.filter(({ required }) => required).map(({ name }) => name),
      },
    }),
    ...(body && { body }),
    ...(response && { response }),
  };
  return { type: 'object', properties: members, required: Object.keys(members) };
}

function jsonOf(held: Content | undefined): Schema | undefined {
  return held?.content?.['application/json']?.schema;
}

function typeOf(schema: Schema, depth: number): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? '';
  if (schema.anyOf !== undefined) return unionOf(schema.anyOf.map((one) => typeOf(one, depth)));
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return unionOf(schema.enum.map((value) => literal(value)));
  if (schema.type === undefined) return 'unknown';
  return unionOf([schema.type].flat().map((type) => typeNamed(type, schema, depth)));
}

function typeNamed(type: string, schema: Schema, depth: number): string {
  switch (type) {
    case 'integer':
      return 'number';
    case 'array': {
      const item = typeOf(schema.items ?? {}, depth);
      return / \| /.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
    }
    case 'object':
      return objectType(schema, depth);
    default:
      return type;
  }
}

function objectType(schema: Schema, depth: number): string {
  const { properties, required = [], additionalProperties } = schema;
  if (properties === undefined) {
    return additionalProperties ? `Record<string, ${typeOf(additionalProperties, depth)}>` : '{}';
  }
  const indent = '  '.repeat(depth + 1);
  const members = Object.entries(properties).map(([name, property]) => {
    const doc =
      property.description === undefined ? '' : `${indent}/** ${property.description} */\n`;
    const type = typeOf(property, depth + 1);
    const isRequired = required.includes(name);
    const key = /^\w+$/.test(name) ? name : `'${name}'`;
    return `${doc}${indent}${key}${isRequired ? '' : '?'}: ${type}${isRequired ? '' : ' | undefined'};\n`;
  });
  return `{\n${members.join('')}${'  '.repeat(depth)}}`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
}

function unionOf(types: string[]): string {
  return [...new Set(types)].join(' | ');
}
