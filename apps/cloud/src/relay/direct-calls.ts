/**
 * Connections to machines that do not go through the cloud (D40, ADR-0094): what their callers may still do, and what they did. Machines ask
 * and report; only who may answer for a part may do so, and only about that part.
 */
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type Clock, invalidArgument, printable } from '@platform/base';
import {
  CallerAccess,
  CallerPath,
  type RelayService,
  type ReportedCalls,
} from '@platform/proto/platform/relay/v1/relay';
import type { Authenticator } from '../access/authenticate.ts';
import type { Access } from '../access/authorize.ts';
import { addReported, type ReportedEntry } from '../access/counted-entries.ts';
import { type CloudHandlers, notVisible, type Principal, requireId } from '../access/principal.ts';
import type { Database } from '../metadata/tables.ts';
import { callerAccess } from './authorization/caller-access.ts';
import { callDetail } from './call-detail.ts';

/** Tickets of one question, and records of one report. */
const maxAtOnce = 100;
const maxTextLength = 255;
const maxArgumentsLength = 1_024;

export interface DirectCallDeps {
  readonly db: Database;
  readonly access: Pick<Access, 'allows' | 'lineageOf'>;
  /** Checks that the principal may answer in the name of the part. @throws not_found, permission_denied */
  authorizeAnswer(principal: Principal, partId: string): void;
  /** See Authenticator. */
  principalOfTicket: Authenticator['principalOfTicket'];
  readonly clock: Clock;
}

export type DirectCallHandlers = Pick<CloudHandlers<typeof RelayService>, 'checkCallers' | 'reportCalls'>;

export function directCallHandlers(deps: DirectCallDeps): DirectCallHandlers {
  const { db, access, authorizeAnswer, principalOfTicket, clock } = deps;
  const require = (principal: Principal, partId: string, what: string, found: number): void => {
    requireId('part_id', partId, 'AppService.GetRobotParts');
    authorizeAnswer(principal, partId);
    if (found > maxAtOnce) throw invalidArgument(`${what}: expected at most ${maxAtOnce}, found ${found}`);
  };
  return {
    async checkCallers({ partId, tickets }, call) {
      require(call.principal, partId, 'tickets', tickets.length);
      const accessOf = async (ticket: Uint8Array): Promise<CallerAccess> => {
        const principal = await principalOfTicket(ticket, partId);
        return principal === undefined ? CallerAccess.UNSPECIFIED : callerAccess(access, principal, partId);
      };
      return { access: await Promise.all(tickets.map(accessOf)) };
    },
    async reportCalls({ partId, calls }, call) {
      require(call.principal, partId, 'calls', calls.length);
      const organizationId = access.lineageOf('part', partId)?.organizationId;
      if (organizationId === undefined) throw notVisible('part', partId);
      const entries = calls.map((one, index) =>
        reportedEntry(one, index, { partId, organizationId, nowMs: clock.now() }),
      );
      if (entries.length > 0) await addReported(db, entries);
      return {};
    },
  };
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The entry is made of bounded, printable texts, whatever the machine says. @throws invalid_argument if its id is none */
function reportedEntry(
  calls: ReportedCalls,
  index: number,
  {
    partId,
    organizationId,
    nowMs,
  }: { readonly partId: string; readonly organizationId: string; readonly nowMs: number },
): ReportedEntry {
  if (!uuid.test(calls.id))
    throw invalidArgument(`calls[${index}].id: expected a UUID, found ${JSON.stringify(calls.id.slice(0, 64))}`);
  const lastMs = timeOf(calls.last, nowMs);
  const detail = callDetail({
    ...{ resource: bounded(calls.resource), count: Math.max(1, whole(calls.count)), lastMs },
    firstMs: timeOf(calls.first, lastMs ?? nowMs),
    arguments: calls.lastArguments === '' ? undefined : bounded(calls.lastArguments, maxArgumentsLength),
    ...{
      path: calls.path === CallerPath.WEBRTC ? 'webrtc' : 'direct',
      isReported: true,
      dropped: whole(calls.dropped),
    },
  });
  return {
    // Its own time: the clock of the machine may be wrong.
    ...{ at_ms: nowMs, report_id: `${partId}/${calls.id.toLowerCase()}`, detail: JSON.stringify(detail) },
    ...{ ...actorOf(calls), action: bounded(calls.operation) || 'unknown', organization_id: organizationId },
    ...{ target_kind: 'part', target_id: partId, peer_address: '' },
  };
}

/** Kinds of actors that a machine knows by other means than the cloud, such as `unix-socket`; it may not pose as the platform or its host. */
function actorOf({ caller, callerName }: ReportedCalls) {
  const [, kind = 'unknown', id = caller] = /^([a-z][a-z-]{0,31}):(.*)$/s.exec(caller) ?? [];
  const isOurs = ['admin', 'platform', 'part'].includes(kind);
  return { actor_kind: isOurs ? 'unknown' : kind, actor_id: bounded(id), actor_name: bounded(callerName) };
}

function bounded(text: string, most = maxTextLength): string {
  return printable(text.slice(0, most))
    .replaceAll(/[\n\t]/g, ' ')
    .slice(0, most);
}

/** No later than `mostMs`; undefined if it is no time. */
function timeOf(time: ReportedCalls['first'], mostMs: number): number | undefined {
  const ms = time === undefined ? Number.NaN : timestampMs(time);
  return ms >= 0 && ms < Number.MAX_SAFE_INTEGER ? Math.min(ms, mostMs) : undefined;
}

function whole(count: bigint): number {
  return Math.min(Number(count), Number.MAX_SAFE_INTEGER);
}
