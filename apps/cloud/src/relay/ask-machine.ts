/** Calls to machines in JSON: unary methods that only read, by name. Live connections repeat them. */
import { type DescMethod, fromJson, type JsonObject, toJson } from '@bufbuild/protobuf';
import { invalidArgument } from '@platform/base';
import { accessOf } from '@platform/resources';
import type { CloudCall, Principal } from '../access/principal.ts';
import type { RelayedCallDeps } from './forward/relayed-call.ts';
import { relayedServices, relayUnary } from './forward/relayed-services.ts';
import { partHeader } from './named-part.ts';

/** Time limit for the machine's answer. */
const timeoutMs = 10_000;

export interface Question {
  readonly partId: string;
  /** Such as `platform.component.sensor.v1.SensorService/GetReadings`. */
  readonly method: string;
  readonly request: JsonObject;
}

export interface AskMachine {
  /** @throws invalid_argument, not_found, permission_denied */
  authorize(question: Question, principal: Principal): void;
  /** @param call whose caller asks @throws like the method */
  ask(question: Question, call: CloudCall): Promise<JsonObject>;
}

export function askMachine(deps: RelayedCallDeps): AskMachine {
  return {
    authorize({ method, partId }, principal) {
      methodOf(method);
      deps.access.authorize(principal, 'part.control', partId);
    },
    async ask({ partId, method: path, request }, call) {
      const method = methodOf(path);
      const message = fromJson(method.input, request, { ignoreUnknownFields: true });
      const asked: CloudCall = {
        ...{ method: `/${path}`, metadata: new Headers({ [partHeader]: partId }), signal: call.signal },
        ...{ principal: call.principal, peerAddress: call.peerAddress, vocabulary: call.vocabulary },
        ...{ deadline: deps.clock.now() + timeoutMs, responseHeaders: new Headers(), responseTrailers: new Headers() },
        onAnswered: (listener) => listener(false),
      };
      const answer = await relayUnary({ deps, method, call: asked, resource: '' }, message);
      return toJson(method.output, answer) as JsonObject;
    },
  };
}

function methodOf(path: string): DescMethod {
  const [type, name] = path.split('/');
  const method = relayedServices
    .find(({ service }) => service.typeName === type)
    ?.service.methods.find((one) => one.name === name);
  if (method?.methodKind === 'unary' && accessOf(method) === 'read') return method;
  throw invalidArgument(
    `method: expected a unary method of a machine that only reads, such as platform.component.sensor.v1.SensorService/GetReadings, found ${JSON.stringify(path.slice(0, 200))}`,
  );
}
