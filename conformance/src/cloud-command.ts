/** How `platform up` starts a cloud from source: what is measured and damaged here is what users run. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { thriftyEnvironment } from '../../apps/cli/bin/become-node.js';
import { cloudFlags } from '../../apps/cli/src/up/cloud-flags.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Flags of Node and the main module, before the cloud's own arguments. */
export const cloudCommand: readonly string[] = [
  '--conditions=@platform/source',
  '--disable-warning=ExperimentalWarning',
  ...cloudFlags,
  join(root, 'apps/cloud/src/main.ts'),
];

export const cloudEnvironment: Readonly<Record<string, string>> = thriftyEnvironment;
