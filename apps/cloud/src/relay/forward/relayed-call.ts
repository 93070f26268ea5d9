/** One relayed call: whether it is allowed, its headers, and when it ends. */
import type { DescMethod, Message } from '@bufbuild/protobuf';
import { EmptySchema } from '@bufbuild/protobuf/wkt';
import { type Clock, invalidArgument, PlatformError, unavailable } from '@platform/base';
import { accessOf, isOfModule, type MethodAccess } from '@platform/resources';
import type { Call } from '@platform/rpc/server';
import { authorOf } from '../../access/audit.ts';
import type { Access } from '../../access/authorize.ts';
import type { CloudCall, Principal } from '../../access/principal.ts';
import { authorizeControl } from '../authorization/authorize-control.ts';
import type { CallLimit } from '../call-limit.ts';
import type { PassedBytes } from '../count-passed.ts';
import type { Links, PartLink } from '../links.ts';
import { type NamedPartDeps, namedPart } from '../named-part.ts';
import { type NoLinkDeps, noLink } from '../no-link.ts';
import type { ActuationRecord } from '../record-actuation.ts';
import { summarizeArguments } from '../summarize-arguments.ts';

/**
 * The name of the resource, in URI encoding. A caller may set it if the name is not in field 1 of a message that the cloud does not know;
 * the cloud uses it to tell the machine which name is in the audit trail.
 */
const resourceHeader = 'platform-resource';
const maxNameLength = 255;

/** R16: a call ends within 5 s after its caller loses access. */
const recheckMs = 4_000;

export interface RelayedCallDeps extends NoLinkDeps, NamedPartDeps {
  readonly registry: NoLinkDeps['registry'] & NamedPartDeps['registry'];
  readonly links: Links;
  readonly access: Pick<Access, 'authorize'>;
  readonly limit: CallLimit;
  readonly passed: PassedBytes;
  readonly actuations: ActuationRecord;
  /** The current principal of the call. @throws unauthenticated */
  recheck(call: CloudCall): Promise<Principal>;
  readonly clock: Clock;
}

export interface RelayedCall extends Disposable {
  readonly link: PartLink;
  readonly options: { readonly signal: AbortSignal; readonly timeoutMs: number; readonly headers: Headers };
  /**
   * Writes a call that is not a read to the audit trail; must be called before the call is forwarded.
   *
   * @param resource its name; empty: the machine itself. For a type that only a module knows it is a guess, which the machine checks
   * @param message decoded or not; the arguments of decoded ones are in the trail
   */
  audit(resource: string, message: Message): Promise<void>;
  /** The error that the caller gets. */
  interpret(caught: unknown): unknown;
}

/** @throws invalid_argument if it does not name one part; not_found, permission_denied; unavailable if the part has no link; resource_exhausted */
export function enterCall(deps: RelayedCallDeps, method: DescMethod, call: CloudCall): RelayedCall {
  const { links, access, limit, passed, actuations, recheck, clock } = deps;
  const partId = namedPart(deps, call);
  const kind = accessOf(method);
  const action = kind === 'manage' ? 'part.manage' : 'part.control';
  // Short names are unique only among our own services.
  const operation = `${isOfModule(method.parent) ? method.parent.typeName : method.parent.name}.${method.name}`;
  const { organizationId } = authorizeControl(access, call.principal, action, partId);
  const link = links.of(partId);
  if (link === undefined) throw noLink(deps, partId);
  const counted = limit.enter(partId, organizationId);
  const passing = passed.enter(link, organizationId);

  const revoked = new AbortController();
  const watch = (): Disposable =>
    clock.after(recheckMs, async () => {
      passing.tell();
      try {
        access.authorize(await recheck(call), action, partId);
        if (!revoked.signal.aborted && !isOver) timer = watch();
      } catch (caught) {
        revoked.abort(caught);
      }
    });
  let isOver = false;
  let timer = watch();
  const options = {
    signal: AbortSignal.any([call.signal, revoked.signal]),
    // 0: no limit; the call ends with its caller.
    timeoutMs: call.deadline === undefined ? 0 : Math.max(1, call.deadline - clock.now()),
    headers: headersFor(call, kind),
  };
  return {
    link,
    options,
    async audit(guessed, message) {
      if (kind === 'read') return;
      let resource = guessed;
      if (isOfModule(method.parent)) {
        resource = resourceOf(call) ?? guessed;
        options.headers.set(resourceHeader, encodeURIComponent(resource));
      }
      const caller = { principal: call.principal, peerAddress: call.peerAddress };
      const args = message.$typeName === EmptySchema.typeName ? undefined : summarizeArguments(message);
      await actuations.record({ caller, organizationId, partId, operation, resource, arguments: args });
    },
    interpret(caught) {
      if (revoked.signal.aborted) return revoked.signal.reason;
      if (call.signal.aborted || !(caught instanceof PlatformError)) return caught;
      if (link.ended.aborted)
        return unavailable(
          `the link to the machine ended during ${operation}: ${link.ended.reason.message}. Whether the call was carried out is unknown`,
        );
      // An error of the machine is not a fault of the cloud, so its text is forwarded.
      return new PlatformError(caught.code, caught.message, caught, { isOwnFault: false });
    },
    [Symbol.dispose]() {
      isOver = true;
      timer[Symbol.dispose]();
      counted[Symbol.dispose]();
      passing[Symbol.dispose]();
    },
  };
}

/** The resource named by the caller; undefined if none. @throws invalid_argument if it cannot be a name */
function resourceOf({ metadata }: Call): string | undefined {
  const given = metadata.get(resourceHeader);
  if (given === null) return undefined;
  try {
    const name = decodeURIComponent(given);
    if (name.length <= maxNameLength && !/\p{Cc}/u.test(name)) return name;
  } catch {
    // It is not a name, either.
  }
  throw invalidArgument(
    `header ${resourceHeader}: expected the name of a resource in URI encoding, found ${JSON.stringify(given.slice(0, 80))}`,
  );
}

/**
 * The only headers of a caller that reach the machine: session, operation and debug name of the public API, its clients' names and metadata,
 * and the trace. A list of what may pass, because whatever else a browser, a proxy or we add is not meant for machines.
 */
const passedHeaders = /^(viam-sid|viam_client|viam-metadata-[\w.-]+|opid|dtname|traceparent|tracestate)$/;

/** Headers that identify the caller to the machine; `machine-server/src/serve/relayed-principal.ts` reads them. */
function headersFor({ metadata, principal }: CloudCall, kind: MethodAccess): Headers {
  const headers = new Headers();
  for (const [name, value] of metadata) if (passedHeaders.test(name)) headers.append(name, value);
  const author = authorOf({ principal, peerAddress: '' });
  headers.set('platform-caller', `${author.kind}:${author.id}`);
  headers.set('platform-caller-name', encodeURIComponent(author.name));
  headers.set('platform-access', kind);
  return headers;
}
