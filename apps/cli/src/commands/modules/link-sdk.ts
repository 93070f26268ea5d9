/** Lets editors and programs in a folder find `@platform/sdk`: a link to the one that came with this command line. */
import { lstat, mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The file that modules import: from the installed package, or from the checkout. */
export function sdkEntry(): string {
  return fileURLToPath(import.meta.resolve('@platform/sdk/module'));
}

/** Leaves an existing package unchanged, for example one that npm installed. */
export async function linkSdk(folder: string): Promise<void> {
  const link = join(folder, 'node_modules', '@platform', 'sdk');
  if ((await lstat(link).catch(() => undefined)) !== undefined) return;
  await mkdir(dirname(link), { recursive: true });
  // Two levels up: src/module.ts or dist/module.js.
  await symlink(dirname(dirname(sdkEntry())), link, 'dir');
}
