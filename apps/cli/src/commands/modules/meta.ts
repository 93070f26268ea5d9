/** `meta.json` and `package.json` of a module's folder. */
import { stat } from 'node:fs/promises';
import { isAbsolute, join, normalize } from 'node:path';
import { invalidArgument } from '@platform/base/refusals';
import type { JsonObject, PlatformError } from '@platform/sdk/cloud';
import type { ProvidedModel } from '@platform/sdk/module';
import { parseObject, readTextFile } from '../../invocation/input.ts';

export interface ModuleFolder {
  /** The second part of `module_id`. */
  readonly name: string;
  readonly moduleId: string;
  readonly meta: JsonObject;
  /** The program: `main` of package.json. An absolute path. */
  readonly main: string;
  /** Further files and folders that it needs, as relative paths: `files` of package.json. */
  readonly files: readonly string[];
}

/** The start script that `build` writes. */
export const entrypoint = 'run.sh';

/** @throws invalid_argument with the file, the key, what was expected and what was found */
export async function readModuleFolder(folder: string): Promise<ModuleFolder> {
  const metaFile = join(folder, 'meta.json');
  const meta = parseObject(await readTextFile(metaFile), metaFile);
  const [, name] = /^[\w-]+:([\w-]+)$/.exec(textAt(meta, 'module_id')) ?? [];
  if (name === undefined) throw wrong(metaFile, 'module_id', '<namespace>:<name>, such as acme:my-sensor', meta);
  if (meta['entrypoint'] !== entrypoint)
    throw wrong(metaFile, 'entrypoint', `"${entrypoint}", which "modules build" writes`, meta);
  const packageFile = join(folder, 'package.json');
  const manifest = parseObject(await readTextFile(packageFile), packageFile);
  const main = join(folder, textAt(manifest, 'main'));
  if ((await stat(main).catch(() => undefined))?.isFile() !== true)
    throw wrong(packageFile, 'main', 'the file of the program', manifest);
  const files = manifest['files'] ?? [];
  if (!Array.isArray(files) || !files.every((one) => typeof one === 'string' && isBelow(one)))
    throw wrong(packageFile, 'files', 'a list of relative paths in this folder', manifest);
  // Machines show it as the version of a module that runs from this folder.
  const version = textAt(meta, 'version') || textAt(manifest, 'version');
  const described = version === '' ? meta : { ...meta, version };
  return { name, moduleId: textAt(meta, 'module_id'), meta: described, main, files: files.map(String) };
}

/** @param provided by the program. @throws invalid_argument if meta.json differs */
export function checkModels({ meta }: ModuleFolder, provided: readonly ProvidedModel[]): void {
  const { models } = meta;
  if (models === undefined) return;
  const spelled = (one: { readonly api?: unknown; readonly model?: unknown }): string =>
    `${String(one.model)} (${String(one.api).replace(/^rdk:/, 'core:')})`;
  const listed = Array.isArray(models) ? models.map((one) => spelled((one ?? {}) as JsonObject)) : [];
  const wanted = provided.map(spelled);
  if (listed.toSorted().join() === wanted.toSorted().join()) return;
  throw invalidArgument(
    `meta.json: models: expected those that the program provides, ${wanted.join(', ')}, found ${listed.join(', ') || JSON.stringify(models)}; list these, or leave "models" out`,
  );
}

function isBelow(path: string): boolean {
  return path !== '' && !isAbsolute(path) && !normalize(path).startsWith('..');
}

function textAt(document: JsonObject, key: string): string {
  const value = document[key];
  return typeof value === 'string' ? value : '';
}

function wrong(file: string, key: string, expected: string, document: JsonObject): PlatformError {
  const found = document[key] === undefined ? 'nothing' : JSON.stringify(document[key]);
  return invalidArgument(`${file}: ${key}: expected ${expected}, found ${found}`);
}
