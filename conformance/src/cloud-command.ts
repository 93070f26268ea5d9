/** How `platform up` starts a cloud: what is measured and damaged here is what users run. */
import { thriftyEnvironment } from '../../apps/cli/bin/become-node.js';
import { cloudFlags } from '../../apps/cli/src/up/cloud-flags.ts';
import { program } from '../../tools/bundles/program.ts';

/** Flags of Node and the main module, before the cloud's own arguments. */
export const cloudCommand: readonly string[] = [
  '--conditions=@platform/source',
  '--disable-warning=ExperimentalWarning',
  ...cloudFlags,
  program('cloud'),
];

export const cloudEnvironment: Readonly<Record<string, string>> = thriftyEnvironment;
