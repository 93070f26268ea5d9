/**
 * Checks that references in texts are valid: each rule number is defined on one page of docs/specs, decision records (ADR-…) are in
 * docs/decisions, links and paths in documents lead to files, functions that tables name after a path are in that file, and docs/README.md
 * lists every page.
 */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { filesToCheck, isSource, read, report, root, walk } from './repository.ts';
import { allRules, type Rule } from './rules.ts';

/** Preferred numbers of $bucketAuto (R5 …), and examples in the tests of checkers. */
const isNoRule = (file: string, name: string): boolean =>
  (file.startsWith('packages/query/') && name.startsWith('R')) || /^tools\/.*\.test\.ts$/.test(file);

/** Rule numbers and records that a text names; line numbers from 1. */
export function referencesIn(text: string): { readonly name: string; readonly line: number }[] {
  return text.split('\n').flatMap((content, index) =>
    [...content.matchAll(/(?<![\w#$.-])(?:[IDRCF]\d{1,2}|ADR-\d{4})(?![\w])/g)].map(([name]) => ({
      name,
      line: index + 1,
    })),
  );
}

/** Files of this repository that a document refers to: relative links, and paths in backticks that begin with a workspace. */
export function pathsIn(document: string, text: string): { readonly path: string; readonly line: number }[] {
  const found: { path: string; line: number }[] = [];
  text.split('\n').forEach((content, index) => {
    for (const [, target = ''] of content.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
      if (!/^[a-z]+:/.test(target)) found.push({ path: normalize(join(dirname(document), target)), line: index + 1 });
    }
    for (const [, path = ''] of content.matchAll(/`((?:apps|packages|tools|bench|conformance|docs)\/[\w./-]+)`/g))
      found.push({ path, line: index + 1 });
  });
  return found;
}

/** Pages that docs/README.md (its text: `list`) does not link; it lists the folder of records as a whole. */
export function unlistedPages(list: string, pages: readonly string[]): string[] {
  const linked = new Set(pathsIn('docs/README.md', list).map(({ path }) => path));
  return pages.filter((page) => page !== 'docs/README.md' && !page.startsWith('docs/decisions/') && !linked.has(page));
}

/** Functions that table rows name after a path: `| path | function, Class.method | …`. */
export function functionsIn(text: string): { readonly path: string; readonly name: string; readonly line: number }[] {
  return text.split('\n').flatMap((content, index) => {
    const [, path = '', cell = ''] =
      /\| `((?:apps|packages)\/[\w./-]+)` \| ((?:`[\w.]+`(?:, )?)+) \|/.exec(content) ?? [];
    return [...cell.matchAll(/(\w+)`/g)].map(([, name = '']) => ({ path, name, line: index + 1 }));
  });
}

/** Numbers that several pages define, or one page twice. */
export function doubleRules(rules: readonly Rule[]): string[] {
  const pages = new Map<string, string>();
  return rules.flatMap(({ number, page }) => {
    const first = pages.get(number);
    pages.set(number, first ?? page);
    return first === undefined ? [] : [`${page}: ${number} is defined on ${first} already`];
  });
}

export function main(): void {
  const rules = allRules();
  const records = walk(['docs/decisions'], (path) => path.endsWith('.md')).map((path) =>
    path.replace(/^docs\/decisions\/(ADR-\d{4}).*$/, '$1'),
  );
  const known = new Set([...rules.map(({ number }) => number), ...records]);
  const sources = filesToCheck(['apps', 'packages', 'conformance', 'bench', 'tools'], isSource);
  const documents = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...walk(['docs'], (path) => path.endsWith('.md'))];
  const problems = doubleRules(rules);
  for (const file of [...sources, ...documents]) {
    for (const { name, line } of referencesIn(read(file)))
      if (!known.has(name) && !isNoRule(file, name))
        problems.push(`${file}:${line}: ${name} is not defined in docs/specs or docs/decisions`);
  }
  for (const document of documents) {
    for (const { path, line } of pathsIn(document, read(document)))
      if (!existsSync(join(root, path))) problems.push(`${document}:${line}: ${path} does not exist`);
    for (const { path, name, line } of functionsIn(read(document)))
      if (existsSync(join(root, path)) && !new RegExp(`\\b${name}\\b`).test(read(path)))
        problems.push(`${document}:${line}: ${path} has no ${name}`);
  }
  const pages = documents.filter((document) => document.startsWith('docs/'));
  for (const page of unlistedPages(read('docs/README.md'), pages)) problems.push(`docs/README.md: ${page} is missing`);
  report('references', problems, `${sources.length} sources, ${documents.length} documents, ${rules.length} rules`);
}

if (import.meta.main) main();
