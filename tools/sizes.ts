/** Lines of each feature, and what the changes since the last commit add: size is a cost. */
import { execFileSync } from 'node:child_process';
import { filesToCheck, isSource, isTest, read, root } from './repository.ts';

/** Workspace, and for apps the feature: apps/cloud/ingest, packages/query, tools. */
function featureOf(path: string): string {
  const [kind = '', name = '', , feature = ''] = path.split('/');
  if (kind !== 'apps' && kind !== 'packages') return kind;
  return kind === 'apps' && feature !== '' && !feature.includes('.') ? `${kind}/${name}/${feature}` : `${kind}/${name}`;
}

export function printSizes(): void {
  const sizes = new Map<string, { code: number; tests: number }>();
  for (const path of filesToCheck(['apps', 'packages', 'tools', 'bench', 'conformance'], isSource)) {
    const size = sizes.get(featureOf(path)) ?? { code: 0, tests: 0 };
    size[isTest(path) ? 'tests' : 'code'] += read(path).split('\n').length;
    sizes.set(featureOf(path), size);
  }
  for (const [feature, { code, tests }] of [...sizes].sort(([a], [b]) => a.localeCompare(b))) {
    console.log(`${String(code).padStart(7)} lines ${String(tests).padStart(7)} of tests  ${feature}`);
  }
  const change = execFileSync('git', ['diff', '--shortstat', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
  console.log(change === '' ? 'no uncommitted change' : `uncommitted: ${change}`);
}
