/** AppService for metadata of machines and parts: one JSON object defined by the user, replaced whole, never interpreted. */
import type { JsonObject } from '@bufbuild/protobuf';
import type { AppService } from '@platform/proto/platform/app/v1/app';
import { audit, type Caller } from '../access/audit.ts';
import { type CloudHandlers, notVisible } from '../access/principal.ts';
import { checkedMetadata, metadataDetail } from '../accounts/metadata.ts';
import type { MachineOperationDeps } from './machines-deps.ts';

interface Target {
  readonly kind: 'machine' | 'part';
  readonly id: string;
}

export function metadataHandlers({
  db,
  access,
  clock,
}: Pick<MachineOperationDeps, 'db' | 'access' | 'clock'>): CloudHandlers<typeof AppService> {
  const table = ({ kind }: Target): 'machines' | 'parts' => (kind === 'machine' ? 'machines' : 'parts');

  const read = async (target: Target): Promise<{ data: JsonObject }> => {
    const row = await db.selectFrom(table(target)).select('metadata').where('id', '=', target.id).executeTakeFirst();
    if (row === undefined) throw notVisible(target.kind, target.id);
    return { data: JSON.parse(row.metadata) as JsonObject };
  };
  const write = async (call: Caller, target: Target, organizationId: string, data: JsonObject): Promise<void> => {
    const metadata = checkedMetadata(data);
    const action = target.kind === 'machine' ? 'AppService.UpdateRobotMetadata' : 'AppService.UpdateRobotPartMetadata';
    const detail = metadataDetail(data, metadata);
    await db.transaction().execute(async (trx) => {
      const { numUpdatedRows } = await trx
        .updateTable(table(target))
        .set({ metadata })
        .where('id', '=', target.id)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw notVisible(target.kind, target.id);
      await audit(trx, call, clock.now(), action, [target.kind, target.id, organizationId], detail);
    });
  };

  return {
    async getRobotMetadata(request, call) {
      access.authorize(call.principal, 'machine.read', request.id);
      return read({ kind: 'machine', id: request.id });
    },
    async updateRobotMetadata(request, call) {
      const { organizationId } = access.authorize(call.principal, 'machine.manage', request.id);
      await write(call, { kind: 'machine', id: request.id }, organizationId, request.data ?? {});
    },
    async getRobotPartMetadata(request, call) {
      access.authorize(call.principal, 'part.read', request.id);
      return read({ kind: 'part', id: request.id });
    },
    async updateRobotPartMetadata(request, call) {
      const { organizationId } = access.authorize(call.principal, 'part.manage', request.id);
      await write(call, { kind: 'part', id: request.id }, organizationId, request.data ?? {});
    },
  };
}
