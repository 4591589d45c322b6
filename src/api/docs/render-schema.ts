/** Renders a JSON schema as a nested list of fields. */
import { code, escapeHtml, sentence } from './markup.ts';
import type { Schema } from './open-api-document.ts';

/** Describes the values of a schema in a few words: `integer, 1 to 100, default 20`. */
export function describeType(schema: Schema): string {
  return [typeName(schema), ...bounds(schema)].join(', ');
}

/** Returns the fields of a schema as HTML; empty when `describeType` is complete. */
export function renderFields(schema: Schema): string {
  const inner = schema.items ?? schema;
  if (inner.properties !== undefined) {
    const required = new Set(inner.required);
    const fields = Object.entries(inner.properties).map(([name, field]) => {
      const isRequired = required.has(name) ? ', always' : '';
      const about = field.description === undefined ? '' : `. ${sentence(field.description)}`;
      return `<li>${code(name)} ${describeType(field)}${isRequired}${about}${renderFields(field)}</li>`;
    });
    return `<ul class="fields">${fields.join('\n')}</ul>`;
  }
  const variants = alternatives(inner).filter(({ type }) => type !== 'null');
  return variants.map(renderFields).join('');
}

export function schemaAnchor(name: string): string {
  return `schema-${name.toLowerCase()}`;
}

function typeName(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split('/').at(-1) ?? '';
    return `<a href="#${schemaAnchor(name)}">${escapeHtml(name)}</a>`;
  }
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined) {
    return schema.enum.map((value) => code(String(value))).join(' or ');
  }
  const variants = alternatives(schema);
  if (variants.length > 0) return [...new Set(variants.map(typeName))].join(' or ');
  if (schema.items !== undefined) return `list of ${typeName(schema.items)}`;
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['anything']);
  const named = types.map((type) => (type === 'string' ? textName(schema) : escapeHtml(type)));
  return named.join(' or ');
}

function textName({ format }: Schema): string {
  return format === undefined ? 'text' : `text (${escapeHtml(format)})`;
}

function alternatives(schema: Schema): readonly Schema[] {
  return schema.anyOf ?? schema.oneOf ?? [];
}

function bounds(schema: Schema): string[] {
  const { minimum, maximum, maxLength } = schema;
  const found: string[] = [];
  if (minimum !== undefined && maximum !== undefined) found.push(`${minimum} to ${maximum}`);
  else if (minimum !== undefined) found.push(`at least ${minimum}`);
  else if (maximum !== undefined) found.push(`at most ${maximum}`);
  if (maxLength !== undefined) found.push(`at most ${maxLength} characters`);
  if (schema.default !== undefined) found.push(`default ${code(JSON.stringify(schema.default))}`);
  return found;
}
