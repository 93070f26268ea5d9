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
    notices.set(`${name} ${version}`, textOf(folder) ?? `Licence: ${license}${holder ? `, ${holder}` : ''}`);
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
