/** The way to a machine through the cloud: unary calls as JSON (Connect). */
import type { JsonObject } from '@bufbuild/protobuf';
import { askWith } from '../../api/session.svelte.ts';
import type { Way } from './way.ts';

export function cloudWay(partId: string): Way {
  return {
    async call(method, request, { headers, ...init }) {
      const answer = await askWith(`/${method}`, request, {
        headers: { 'connect-protocol-version': '1', 'platform-part': partId, ...headers },
        ...init,
      });
      return answer.json() as Promise<JsonObject>;
    },
  };
}
