/** The RPC CreateBinaryDataSignedURL. */
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { DataService } from '@platform/proto/platform/app/data/v1/data';
import { audit } from '../../access/audit.ts';
import type { CloudHandlers } from '../../access/principal.ts';
import type { BinaryOperationDeps } from '../binary-deps.ts';
import { filesNamed, namedFiles } from '../find/find-files.ts';
import { scopesOf } from '../scopes.ts';
import { linkFor, linkUrl } from './signed-link.ts';

export function linkHandlers(deps: BinaryOperationDeps): CloudHandlers<typeof DataService> {
  const { db, access, instanceKey, caughtUp, baseUrl, clock } = deps;
  return {
    async createBinaryDataSignedURL({ binaryDataId, expirationMinutes }, call) {
      const named = namedFiles(binaryDataId === '' ? [] : [binaryDataId], []);
      await caughtUp(call.signal);
      const link = await db.transaction().execute(async (trx) => {
        const files = await filesNamed(
          { ...deps, db: trx },
          named,
          scopesOf(access, call.principal, 'operator'),
          clock.now(),
        );
        const made = linkFor(call.principal, binaryDataId, expirationMinutes ?? 0, clock.now());
        for (const { id, organization_id: organizationId } of files)
          await audit(
            trx,
            call,
            clock.now(),
            'DataService.CreateBinaryDataSignedURL',
            ['binary data', id, organizationId],
            { expires: new Date(made.endsMs).toISOString() },
          );
        return made;
      });
      return {
        signedUrl: linkUrl(instanceKey, baseUrl(call.metadata), link),
        expiresAt: timestampFromMs(link.endsMs),
      };
    },
  };
}
