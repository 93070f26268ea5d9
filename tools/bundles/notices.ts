/** The licence notices of the packages in bundles: their licences ask that copies carry them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../repository.ts';

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly author?: string | { readonly name?: string };
}

/** Licences under which a package may go into a bundle, which changes it: permissive ones. */
const permissive = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'OFL-1.1',
  'Zlib',
]);

/**
 * @param inputs files that went into bundles, relative to the root
 * @throws if a package has another licence than a permissive one, or none
 */
export function noticesOf(inputs: readonly string[]): string {
  const folders = new Set(inputs.flatMap((file) => (file.includes('node_modules/') ? [packageFolder(file)] : [])));
  const notices = new Map<string, string>();
  for (const folder of folders) {
    const { name = folder, version, license = '', author } = manifestOf(folder);
    if (!isPermissive(license))
      throw new Error(
        `${folder}: expected a permissive licence (${[...permissive].join(', ')}), found ${license || 'none'}; keep the package out of bundles (tools/bundles/programs.ts)`,
      );
    const holder = typeof author === 'string' ? author : author?.name;
    const line = `Licence: ${license}${holder ? `, ${holder}` : ''}`;
    const text = textOf(folder) ?? sectionOf(folder) ?? (license === 'MIT' ? mit : '');
    notices.set(`${name} ${version}`, `${line}\n\n${text}`);
  }
  const sections = [...notices]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([title, text]) => `${title}\n\n${text.trim()}\n`);
  return ['The programs contain these packages.\n', ...sections].join(`\n${'-'.repeat(80)}\n\n`);
}

/** @param license an SPDX expression; of licences to choose from, all must be permissive */
function isPermissive(license: string): boolean {
  const terms = license.split(/[()\s]+|\b(?:AND|OR)\b/).filter((term) => term !== '');
  return terms.length > 0 && terms.every((term) => permissive.has(term));
}

/** The nearest folder whose package.json has a name and a version. */
function packageFolder(file: string): string {
  for (let at = dirname(file); ; at = dirname(at)) {
    if (at === '.') throw new Error(`${file}: expected a package around it, found none`);
    const { name, version } = manifestOf(at);
    if (name !== undefined && version !== undefined) return at;
  }
}

function manifestOf(folder: string): Manifest {
  const file = join(root, folder, 'package.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : {};
}

/** The files in which a package has its licence and its notices. */
function textOf(folder: string): string | undefined {
  const files = readdirSync(join(root, folder)).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name));
  const texts = files.sort().map((name) => readFileSync(join(root, folder, name), 'utf8').trim());
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

/** The section of its readme, for packages that have the text there. */
function sectionOf(folder: string): string | undefined {
  const file = readdirSync(join(root, folder)).find((name) => /^readme/i.test(name));
  const [, text] =
    /^#+ *licen[cs]e *\n([^#]*)/im.exec(file ? readFileSync(join(root, folder, file), 'utf8') : '') ?? [];
  return text?.includes('Permission') ? text.trim() : undefined;
}

/** For packages that only name it. */
const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files
(the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;
