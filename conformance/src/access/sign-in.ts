/** Gets tokens as clients do. */
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { connect } from '@platform/rpc/client';

export async function signIn(
  url: string,
  { entity, type, payload }: { readonly entity: string; readonly type: string; readonly payload: string },
): Promise<string> {
  await using link = connect({ baseUrl: url });
  const answer = await link.client(AuthService).authenticate({ entity, credentials: { type, payload } });
  return answer.accessToken;
}
