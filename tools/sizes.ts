/** Lists the lines of each feature, everything above its size limit, and the lines added since the last commit: size is a cost. */
import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { filesToCheck, isSource, isTest, read, root } from './repository.ts';

const mostFiles = 25;
const mostLines = 100;

/** The reason why something may exceed its limit. */
const reasons = 'docs/architecture.md';

/** Workspace, and for apps the feature: apps/cloud/ingest, packages/query, tools. */
function featureOf(path: string): string {
  const [kind = '', name = '', , feature = ''] = path.split('/');
  if (kind !== 'apps' && kind !== 'packages') return kind;
  return kind === 'apps' && feature !== '' && !feature.includes('.') ? `${kind}/${name}/${feature}` : `${kind}/${name}`;
}

/** Folders with more than 25 source files, and how many they have. */
export function largeFolders(paths: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return new Map([...counts].filter(([, count]) => count > mostFiles));
}

const opens = /(?:=>|\)(?:: .+)?) \{$/;
const control = /^(?:\} )?(?:if|else|for|while|switch|do|try|catch|finally)\b/;
const suite = /^(?:describe|test)\b|\w+Tests\b/;
const named = /\bfunction\*? (\w+)|^(?:export )?const (\w+)|^(?:async |static |override |\*)*#?(\w+)\(/;

/**
 * Names of functions with more than 100 lines, and their number of lines. Uses the formatter's indentation: a function ends at the brace
 * with the same indentation as the line that opens it. Test suites do not count.
 */
export function longFunctions(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n');
  const indents = lines.map((line) => (line === '' ? Number.NaN : line.length - line.trimStart().length));
  const found = new Map<string, number>();
  const above = (start: number): string =>
    lines.findLast((line, at) => at < start && indents[at] === indents[start] && named.test(line)) ?? '';
  for (const [index, line] of lines.entries()) {
    const code = line.trimStart();
    if (!opens.test(code) || control.test(code)) continue;
    const indent = indents[index]!;
    const isAt = (at: number): boolean => indents[at] === indent;
    const end = lines.findIndex((other, at) => at > index && isAt(at) && other.trimStart().startsWith('}'));
    // If parameters are on separate lines, the name is above.
    const start = /^[)}]/.test(code) ? lines.findLastIndex((_, at) => at < index && isAt(at)) : index;
    const head = lines[start]!.trimStart();
    if (end - start + 1 > mostLines && !suite.test(head.replace(/^export (?:async )?function /, '')))
      found.set(nameOf(head) ?? nameOf(above(start)) ?? `line ${start + 1}`, end - start + 1);
  }
  return found;
}

function nameOf(head: string): string | undefined {
  const [, ...names] = named.exec(head) ?? [];
  return names.find((name) => name !== undefined);
}

/** Everything above its size limit. */
function tooLarge(files: readonly string[]): { readonly what: string; readonly size: string }[] {
  return [
    ...[...largeFolders(files)].map(([folder, count]) => ({ what: folder, size: `${count} files` })),
    ...files.flatMap((path) =>
      [...longFunctions(read(path))].map(([name, lines]) => ({ what: `${path}: ${name}`, size: `${lines} lines` })),
    ),
  ];
}

export function printSizes(): void {
  const sizes = new Map<string, { code: number; tests: number }>();
  const files = filesToCheck(['apps', 'packages', 'tools', 'bench', 'conformance'], isSource);
  for (const path of files) {
    const size = sizes.get(featureOf(path)) ?? { code: 0, tests: 0 };
    size[isTest(path) ? 'tests' : 'code'] += read(path).split('\n').length;
    sizes.set(featureOf(path), size);
  }
  for (const [feature, { code, tests }] of [...sizes].sort(([a], [b]) => a.localeCompare(b))) {
    console.log(`${String(code).padStart(7)} lines ${String(tests).padStart(7)} of tests  ${feature}`);
  }
  const page = read(reasons);
  const large = tooLarge(files);
  const unexplained = large.filter(({ what }) => !page.includes(`\`${what}\``));
  console.log(
    `${large.length} folders and functions are larger than they should be (${mostFiles} files, ${mostLines} lines)`,
  );
  for (const { what, size } of unexplained) console.log(`  without a reason in ${reasons}: ${what}, ${size}`);
  const change = execFileSync('git', ['diff', '--shortstat', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  console.log(change === '' ? 'no uncommitted change' : `uncommitted: ${change}`);
}

if (import.meta.main) printSizes();
