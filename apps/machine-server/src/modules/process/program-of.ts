/** Finds the program of a module to start, and its folder. */
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { failedPrecondition } from '@platform/base';
import { unpack } from '../../packages/unpack.ts';
import type { ModuleConfig } from '../module-config.ts';
import { pathInMeta } from './meta-json.ts';

export interface Program {
  readonly path: string;
  /** The folder of its `meta.json`. */
  readonly folder: string;
}

/**
 * For a package, the entrypoint in its `meta.json`, otherwise the program in the configuration. A local `.tar.gz` is unpacked again for
 * each start, so that a restart uses a new one; its `meta.json` must name the entrypoint.
 *
 * @param packageFolder the folder of the package that holds the configured path
 * @param unpackFolder where a local archive is unpacked
 * @throws failed_precondition if there is no program, or the archive names no entrypoint, and errors of unpacking
 */
export async function programOf(
  { executablePath, isLocal }: ModuleConfig,
  packageFolder: string | undefined,
  unpackFolder: string,
): Promise<Program> {
  if (packageFolder !== undefined) {
    const path = (await pathInMeta(packageFolder, 'entrypoint')) ?? executablePath;
    return { path, folder: packageFolder };
  }
  if (executablePath === '') throw failedPrecondition('expected a program at executable_path, found none');
  if (!isLocal || !/\.(tar\.gz|tgz)$/.test(executablePath))
    return { path: executablePath, folder: dirname(executablePath) };
  await rm(unpackFolder, { recursive: true, force: true });
  await unpack(executablePath, unpackFolder);
  const path = await pathInMeta(unpackFolder, 'entrypoint');
  if (path !== undefined) return { path, folder: unpackFolder };
  const text = `expected a meta.json with an entrypoint in the archive ${executablePath}, found none`;
  throw failedPrecondition(text);
}
