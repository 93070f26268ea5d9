/** AppService for part configurations: saving them and reading their history. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { AppService, RobotPartHistoryEntrySchema } from '@platform/proto/platform/app/v1/app';
import { type CloudHandlers, requireVisible } from '../../access/principal.ts';
import { checkedName } from '../../text-rules/checked-name.ts';
import { readPageToken } from '../../wire/page-token.ts';
import { requireReadableJson } from '../../wire/readable-json.ts';
import { sendWarnings } from '../../wire/send-warnings.ts';
import { authenticatorInfo } from '../author.ts';
import { changePart, type PartChange, partChanged, writePartChange } from '../change-parts.ts';
import type { MachineOperationDeps } from '../machines-deps.ts';
import type { ConfigurationVersion } from './configuration.ts';
import { neverConfigured } from './configuration-history.ts';

const defaultEntries = 100;
const maxEntries = 500;
/** Total size of the documents in one answer; public clients read messages of up to 4 MiB. The first entry is sent whatever its size. */
const maxPageBytes = 1024 * 1024;

export function configurationHandlers(deps: MachineOperationDeps): CloudHandlers<typeof AppService> {
  const { access, registry, configurations, messages, clock } = deps;
  return {
    async updateRobotPart(request, call) {
      const { organizationId } = access.authorize(call.principal, 'part.manage', request.id);
      const part = requireVisible(registry.part(request.id), 'part', request.id);
      const name = request.name === '' ? part.name : checkedName(request.name);
      requireReadableJson(request.robotConfig, 'configuration');
      const renaming: PartChange | undefined =
        name === part.name
          ? undefined
          : {
              part,
              organizationId,
              action: 'AppService.UpdateRobotPart',
              columns: { name },
              detail: { name, name_before: part.name },
            };
      // One transaction for both: a refused edit changes nothing.
      let version: ConfigurationVersion;
      if (request.robotConfigJson !== undefined || request.robotConfig !== undefined) {
        version = await configurations.save({
          partId: part.id,
          document: request.robotConfigJson ?? JSON.stringify(request.robotConfig),
          unformatted: request.robotConfigJson === undefined,
          by: call,
          warned: (warnings) => sendWarnings(call, warnings),
          ...(renaming && { alongside: (trx) => writePartChange(trx, call, renaming, clock.now()) }),
          ...(request.lastKnownUpdate === undefined
            ? {}
            : { edited: { createdMs: timestampMs(request.lastKnownUpdate) } }),
        });
        if (renaming !== undefined) partChanged(registry, renaming);
      } else {
        if (renaming !== undefined) await changePart(deps, call, renaming);
        version = await configurations.current(part.id);
      }
      const [updated] = await messages.parts([{ part: registry.part(part.id) ?? part, version }], call);
      return { part: updated };
    },
    async getRobotPartHistory(request, call) {
      access.authorize(call.principal, 'part.read', request.id);
      const part = requireVisible(registry.part(request.id), 'part', request.id);
      const asked = Number(request.pageLimit ?? 0n);
      const limit = asked > 0 ? Math.min(asked, maxEntries) : defaultEntries;
      const page = {
        endMs: request.end === undefined ? undefined : timestampMs(request.end),
        startMs: request.start === undefined ? undefined : timestampMs(request.start),
      };
      const before = readPageToken(request.pageToken, 'GetRobotPartHistory');
      const listed = await configurations.summaries(part.id, { ...page, before, limit: limit + 1 });
      const edits: { readonly saved: ConfigurationVersion; readonly replaced: ConfigurationVersion }[] = [];
      let bytes = 0;
      // Read one at a time: documents may be megabytes.
      for (const { version: saved } of listed.slice(0, limit)) {
        const [replaced = neverConfigured] = await configurations.history(part.id, { before: saved.version, limit: 1 });
        bytes += replaced.document.length;
        if (edits.length > 0 && bytes > maxPageBytes) break;
        edits.push({ saved, replaced });
      }
      const old = await messages.parts(
        edits.map(({ replaced }) => ({ part, version: replaced })),
        call,
      );
      return {
        history: edits.map(
          ({ saved }, index): MessageInitShape<typeof RobotPartHistoryEntrySchema> => ({
            part: part.id,
            robot: part.machine_id,
            when: timestampFromMs(saved.createdMs),
            // What this edit replaced. The history contains no secrets, regardless of who reads it.
            old: { ...old[index], secret: '', secrets: [] },
            editedBy: authenticatorInfo(saved.author),
          }),
        ),
        nextPageToken: edits.length < listed.length ? String(edits.at(-1)?.saved.version ?? '') : '',
      };
    },
  };
}
