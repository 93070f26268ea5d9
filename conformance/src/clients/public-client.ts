/** The unmodified public TypeScript client, signed in with an API key. */
import { createViamClient, type ViamClient } from '@viamrobotics/sdk';
import type { CloudProcess } from '../start-cloud.ts';
import { nativeTransport } from './native-transport.ts';

export function signInPublicClient({
  url,
  keyId,
  key,
}: Pick<CloudProcess, 'url' | 'keyId' | 'key'>): Promise<ViamClient> {
  return createViamClient({ serviceHost: url, credentials: { type: 'api-key', authEntity: keyId, payload: key } });
}

/** The same outside a browser: it can upload streams. */
export async function signInNativeClient(cloud: Parameters<typeof signInPublicClient>[0]): Promise<ViamClient> {
  Reflect.set(globalThis, 'VIAM', { GRPC_TRANSPORT_FACTORY: nativeTransport });
  try {
    return await signInPublicClient(cloud);
  } finally {
    Reflect.deleteProperty(globalThis, 'VIAM');
  }
}
