/** The keys that sign an organization's webhooks, in the API, for owners of the organization. */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import type { CloudHandlers } from '../../access/principal.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import { rotateWebhookSecret, webhookSecrets } from './webhook-secrets.ts';

const defaultOverlapSeconds = 7 * 86_400;

export function webhookSecretHandlers(
  deps: AccountsDeps,
): Pick<CloudHandlers<typeof FleetService>, 'getWebhookSecrets' | 'rotateWebhookSecret'> {
  const secretsOf = async (organizationId: string) =>
    (await webhookSecrets(deps, organizationId)).map(({ secret, endsMs }) => ({
      secret,
      ...(endsMs !== undefined && { endsAt: timestampFromMs(endsMs) }),
    }));
  return {
    async getWebhookSecrets({ organizationId }, { principal }) {
      deps.access.authorize(principal, 'organization.manage', organizationId);
      return { secrets: await secretsOf(organizationId) };
    },
    async rotateWebhookSecret({ organizationId, overlapSeconds = defaultOverlapSeconds }, call) {
      deps.access.authorize(call.principal, 'organization.manage', organizationId);
      await rotateWebhookSecret(deps, call, organizationId, overlapSeconds * 1_000);
      return { secrets: await secretsOf(organizationId) };
    },
  };
}
