/** `platform machines part run`: calls a method of a machine through the cloud. */
import { invalidArgument } from '@platform/base/refusals';
import type { JsonObject } from '@platform/sdk/cloud';
import { callMethod, type Machine, type MachineMethod, machineMethods, moduleMethods } from '@platform/sdk/machine';
import { Command } from 'commander';
import { defineCommand } from '../../invocation/define-command.ts';
import { parseJson, readInput } from '../../invocation/input.ts';
import type { Invocation } from '../../settings.ts';
import { partArgument } from '../config/configuration.ts';
import { findMethod, isOfModule, methodLines } from './find-method.ts';
import { onlyResource } from './only-resource.ts';

export function runCommand(): Command {
  return defineCommand(
    new Command('run')
      .description(
        'call a method of a machine through the cloud and print the answer as JSON. Motion that SetPower and similar methods start continues after the command ends; call Stop to end it. Without a method: list the methods of the machine’s resources, including types that only its modules know',
      )
      .argument(...partArgument)
      .argument('[method]', 'such as motor.SetPower; robot.METHOD for the machine itself')
      .argument(
        '[json]',
        'the request, with fields named as in the API; a list for a method that takes a stream; - reads standard input (default: {})',
      )
      .option('--resource <name>', 'name of the resource (default: the only one of its type)'),
    {
      examples: [
        'platform machines part run press-7',
        'platform machines part run press-7 sensor.GetReadings',
        'platform machines part run press-7 motor.SetPower \'{"power_pct": 0.5}\'',
        'platform machines part run press-7 robot.StopAll',
        'platform machines part run press-7 widget.Spin \'{"turns": 2}\'',
        'platform machines part run press-7 board.StreamTicks \'{"pin_names": ["7"]}\'',
      ],
      fields: ['the fields of the answer', 'method', 'request'],
      section: { title: 'Methods', entries: methodLines() },
    },
    async (context, flags, text = '', methodText = '', json = '{}') => {
      const { cloud, out, find, signal, invocation } = context;
      const isElsewhere = methodText === '' || isOfModule(methodText);
      // First reports mistakes that can be found without the machine.
      const known = isElsewhere ? undefined : findMethod(methodText);
      const given = known && (await requestsOf(known, json, invocation));
      const { id } = await find.part(text);
      using machine = (await cloud()).machine(id, { session: false });
      if (methodText === '') return out.rows(await methodRows(machine), ['method', 'request']);
      const method = known ?? findMethod(methodText, [...machineMethods, ...(await moduleMethods(machine))]);
      const requests = given ?? (await requestsOf(method, json, invocation));
      const asked = flags['resource'] as string | undefined;
      const resource = asked ?? (await resourceOf(machine, method, requests));
      const isStream = method.kind === 'server_streaming' || method.kind === 'bidi_streaming';
      // --timeout ends the command; without it, unary calls have the usual limit, and streams none.
      const limit = isStream || context.flags.timeout !== undefined ? { timeoutMs: 0 } : {};
      for await (const answer of callMethod(machine, method, requests, { resource, signal, ...limit })) {
        const value = answer as JsonObject;
        if (isStream) out.element(value, JSON.stringify(value));
        else out.document(value);
      }
    },
  );
}

/** The methods of the machine itself and of its resources. */
async function methodRows(machine: Machine): Promise<JsonObject[]> {
  const apis = new Set((await machine.resourceNames()).map((full) => full.slice(0, full.indexOf('/'))));
  return [...machineMethods, ...(await moduleMethods(machine))]
    .filter(({ api }) => api === undefined || apis.has(api))
    .map(({ name, fields }) => ({ method: name, request: fields.join(', ') }));
}

/** @throws invalid_argument that lists the fields of the request */
async function requestsOf(
  { name, kind, fields }: MachineMethod,
  json: string,
  invocation: Invocation,
): Promise<JsonObject[]> {
  const value = parseJson(json === '-' ? await readInput('-', invocation) : json, name);
  const takesStream = kind === 'client_streaming' || kind === 'bidi_streaming';
  const all = takesStream && Array.isArray(value) ? value : [value];
  if (all.every((one) => typeof one === 'object' && one !== null && !Array.isArray(one))) return all as JsonObject[];
  throw invalidArgument(
    `${name}: expected a JSON object with some of ${fields.join(', ')}${takesStream ? ', or a list of them' : ''}; found ${json.slice(0, 40)}`,
  );
}

/** The name of the only resource of the method's type; undefined if requests have no name, or contain it. @throws invalid_argument */
async function resourceOf(
  machine: Machine,
  { api, name, names }: MachineMethod,
  [first = {}]: readonly JsonObject[],
): Promise<string | undefined> {
  return api === undefined || names(first) ? undefined : await onlyResource(machine, api, name);
}
