/** The unmodified public TypeScript client, signed in with an API key. */
import { createViamClient, type ViamClient } from '@viamrobotics/sdk';
import type { CloudProcess } from './start-cloud.ts';

export function signInPublicClient({
  url,
  keyId,
  key,
}: Pick<CloudProcess, 'url' | 'keyId' | 'key'>): Promise<ViamClient> {
  return createViamClient({ serviceHost: url, credentials: { type: 'api-key', authEntity: keyId, payload: key } });
}
