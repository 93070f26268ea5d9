/** Opens the `-config` file: credentials for a cloud, or a configuration that is watched. */
import { isCached, localCacheFile } from './cache.ts';
import { type ConfigFile, readConfigFile } from './credentials.ts';
import { signatureOf } from './read-document.ts';

/** @throws PlatformError invalid_argument with the file, the place in it, what was expected and what was found */
export async function openConfigFile(
  path: string,
  home: string,
): Promise<ConfigFile & { readonly path: string; readonly signature: string }> {
  const signature = await signatureOf(path);
  const file = await readConfigFile(path, await isCached(localCacheFile(home, path)));
  return { ...file, path, signature };
}
