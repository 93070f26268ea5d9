/**
 * The STUN and TURN servers that callers and machines use besides their own. TURN servers get a name and a password for each call, as coturn
 * checks them with `use-auth-secret`: they work for a limited time, and nobody needs an account.
 */
import { createHmac } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Clock } from '@platform/base';
import type { ICEServerSchema } from '@platform/proto/proto/rpc/webrtc/v1/signaling';
import type { IceSettings } from './settings.ts';

/** @param who the id of a key, person or part: it appears in the log of the TURN server */
export type IceServers = (who: string) => MessageInitShape<typeof ICEServerSchema>[];

export function createIceServers({ stunUrls, turn }: IceSettings, clock: Pick<Clock, 'now'>): IceServers {
  return (who) => {
    const stun = stunUrls.length > 0 ? [{ urls: [...stunUrls] }] : [];
    if (turn === undefined) return stun;
    const username = `${Math.floor((clock.now() + turn.ttlMs) / 1_000)}:${who}`;
    const credential = createHmac('sha1', turn.secret).update(username).digest('base64');
    return [...stun, { urls: [...turn.urls], username, credential }];
  };
}
