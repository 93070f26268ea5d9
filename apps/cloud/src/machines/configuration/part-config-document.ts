/** The body of `GET /api/json1/config`: a part's whole configuration. Saved as the -config file, it starts a server (D32). */
import { PlatformError } from '@platform/base';

export interface KeyPair {
  readonly keyId: string;
  readonly key: string;
}

export interface CloudBlock {
  readonly id: string;
  readonly appAddress: string;
  /** Only owners and the part receive the part's secret (D6); other callers receive the key that they used. */
  readonly credentials: { readonly secret: string } | KeyPair;
}

/** @param config the effective document of the part. */
export function partConfigDocument(config: unknown, cloud: CloudBlock): Record<string, unknown> {
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new PlatformError('internal', `configuration of part ${cloud.id} is not a JSON object`);
  }
  const { credentials } = cloud;
  const secret =
    'secret' in credentials
      ? { secret: credentials.secret }
      : { api_key: { id: credentials.keyId, key: credentials.key } };
  return { ...config, cloud: { id: cloud.id, ...secret, app_address: cloud.appAddress } };
}
