/** Types of the web UI, its Svelte components included: they need a TypeScript that has an API, unlike the workspace's. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './repository.ts';

const cwd = join(root, 'apps', 'web');

function run(...args: readonly string[]): void {
  const { status } = spawnSync(process.execPath, [...args], { cwd, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

// The types of `$app/…`, which a build makes as well.
run(join('node_modules', '@sveltejs', 'kit', 'svelte-kit.js'), 'sync');
run(join('node_modules', 'svelte-check', 'bin', 'svelte-check'), '--output', 'human', '--fail-on-warnings');
