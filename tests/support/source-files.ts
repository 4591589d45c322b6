/**
 * The project's own text files, parsed so that rules about code ignore comments and strings: both are blanked
 * out in `code`, which keeps every offset and line of the text.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../../src/core/lib/package-root.ts';

export interface SourceFile {
  /** From the package root, with `/`. */
  path: string;
  text: string;
  /** The text with comments and the contents of strings as spaces; empty unless it is TypeScript. */
  code: string;
  imports: Import[];
  /** Offsets of template literals that have a tag. */
  taggedTemplates: number[];
}

export interface Import {
  /** A path from the package root for a relative import, else the name of a package. */
  target: string;
  isOurs: boolean;
  line: number;
}

/** Build output, downloads and measurements; other folders whose name begins with a dot are data. */
const skipped = new Set(['node_modules', 'dist', 'coverage', 'results', 'package-lock.json']);
const dotFolders = new Set(['.ci', '.github']);
const textFile = /\.(tsx?|css|md|json|sql|ya?ml|sh|example)$|^(run|Dockerfile|LICENSE)$/;

/** Every handwritten text file of the project, by path. */
export function readSourceFiles(): SourceFile[] {
  return listFiles('').map((file) => parseSource(file, readFileSync(absolute(file), 'utf8')));
}

function absolute(file: string): string {
  return path.join(packageRoot, file);
}

function listFiles(folder: string): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(absolute(folder), { withFileTypes: true })) {
    if (skipped.has(entry.name)) continue;
    const file = path.posix.join(folder, entry.name);
    if (!entry.isDirectory()) {
      if (textFile.test(entry.name)) found.push(file);
    } else if (!entry.name.startsWith('.') || dotFolders.has(entry.name)) {
      found.push(...listFiles(file));
    }
  }
  return found.sort();
}

/** Reads a text as the file `file`. */
export function parseSource(file: string, text: string): SourceFile {
  if (!/\.tsx?$/.test(file))
    return { path: file, text, code: '', imports: [], taggedTemplates: [] };
  const { code, taggedTemplates } = blank(text);
  return { path: file, text, code, imports: findImports(file, text, code), taggedTemplates };
}

/** The 1-based line of an offset. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** Static, side-effect, re-export, type and dynamic imports: all end in a string after these words. */
const importWords = /\b(?:from|import\s*\(|import)\s*(['"])( *)\1/g;

function findImports(file: string, text: string, code: string): Import[] {
  return [...code.matchAll(importWords)].map((match) => {
    const end = match.index + match[0].length - 1;
    const specifier = text.slice(end - (match[2] ?? '').length, end);
    const isOurs = specifier.startsWith('.');
    const target = isOurs ? path.posix.join(path.posix.dirname(file), specifier) : specifier;
    return { target, isOurs, line: lineAt(text, match.index) };
  });
}

/**
 * The next token that may hide code: a comment, a string, a regular expression (a slash where a value may
 * begin), or a character that opens or closes a template or its expressions.
 */
const token = new RegExp(
  [
    String.raw`(?<comment>/\*[\s\S]*?\*/|//[^\n]*)`,
    String.raw`(?<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")`,
    String.raw`(?<regex>(?<=(?:[=(,:;!&|?{}[+\n]|\breturn)\s*)` +
      String.raw`/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+/[a-z]*)`,
    '(?<mark>[`{}])',
  ].join('|'),
  'g',
);
const templateText = /(?:\\[\s\S]|[^\\`$]|\$(?!\{))*(?:`|\$\{)/y;

function blank(text: string): { code: string; taggedTemplates: number[] } {
  const taggedTemplates: number[] = [];
  // For each open template: the number of open braces inside its expression.
  const depths: number[] = [];
  let code = '';
  let at = 0;
  const copyTo = (end: number) => {
    code += text.slice(at, end);
    at = end;
  };
  const blankTo = (end: number) => {
    code += text.slice(at, end).replace(/[^\n]/g, ' ');
    at = end;
  };
  const skipTemplateText = () => {
    templateText.lastIndex = at;
    const chunk = templateText.exec(text)?.[0] ?? text.slice(at);
    const opens = chunk.endsWith('${');
    if (opens) depths.push(0);
    blankTo(at + chunk.length - (opens ? 2 : 1));
    copyTo(at + (opens ? 2 : 1));
  };
  while (at < text.length) {
    token.lastIndex = at;
    const match = token.exec(text);
    if (match === null) break;
    copyTo(match.index);
    const [found] = match;
    const { comment, mark } = match.groups ?? {};
    if (comment !== undefined) {
      blankTo(at + found.length);
    } else if (mark === undefined) {
      copyTo(at + 1);
      blankTo(at + found.length - 2);
      copyTo(at + 1);
    } else {
      if (mark === '`' && isTag(code)) taggedTemplates.push(at);
      copyTo(at + 1);
      const open = depths.at(-1);
      if (mark === '`') skipTemplateText();
      else if (open === 0 && mark === '}') {
        depths.pop();
        skipTemplateText();
      } else if (open !== undefined) depths[depths.length - 1] = open + (mark === '{' ? 1 : -1);
    }
  }
  copyTo(text.length);
  return { code, taggedTemplates };
}

/** A value directly before a template is its tag; `String.raw` yields text, like no tag. */
function isTag(before: string): boolean {
  return /[\w$)\]>]$/.test(before) && !/=>$|\bString\.raw$/.test(before);
}
