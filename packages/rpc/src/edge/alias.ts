/** The path half of the compatibility edge: `/viam.X/Y` ≡ `/platform.X/Y`; `/proto.X/Y` has the same name for all peers. */
import type { Vocabulary } from './api-names.ts';

/** The canonical path, and the vocabulary implied by its spelling. REST paths below `/viam/api/` count as well. */
export function canonicalPath(path: string): { path: string; vocabulary: Vocabulary } {
  if (path.startsWith('/viam.')) return { path: `/platform.${path.slice('/viam.'.length)}`, vocabulary: 'rdk' };
  if (path.startsWith('/viam/api/'))
    return { path: `/platform/api/${path.slice('/viam/api/'.length)}`, vocabulary: 'rdk' };
  return { path, vocabulary: 'core' };
}

/** The name of a service or message in the package name that the peer uses. */
export function peerTypeName(typeName: string, vocabulary: Vocabulary): string {
  return vocabulary === 'rdk' ? typeName.replace(/^platform\./, 'viam.') : typeName;
}
