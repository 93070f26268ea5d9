/** Repeats the same requests as JSON over HTTP/1.1, which takes another path into the cloud: the answers must be the same. */
import { create, type JsonValue, type MessageInitShape, toJson } from '@bufbuild/protobuf';
import { describe, isExpected, type Result } from './matrix.ts';
import type { World } from './world.ts';

/** One in this many cases is repeated, a different one for each caller and operation. */
const everyMany = 5;
const callsAtOnce = 16;

/** @param results of cases that change nothing. @returns how many were repeated, and what was wrong */
export async function askOverJson(
  world: World,
  results: readonly Result[],
): Promise<{ readonly asked: number; readonly problems: string[] }> {
  const again = results.filter(
    ({ case: { method } }, index) => method.methodKind === 'unary' && index % everyMany === 0,
  );
  const waiting = [...again];
  const problems: string[] = [];
  const worker = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) problems.push(...(await ask(world, next)));
  };
  await Promise.all(Array.from({ length: callsAtOnce }, worker));
  return { asked: again.length, problems };
}

async function ask(world: World, before: Result): Promise<string[]> {
  const { case: one, requests, sent } = before;
  const { method, caller, row } = one;
  const [request = {}] = requests;
  const input = create(method.input, request as MessageInitShape<typeof method.input>);
  const response = await fetch(`${world.cloud.url}/${method.parent.typeName}/${method.name}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(caller.token !== undefined && { authorization: `Bearer ${caller.token}` }),
    },
    body: JSON.stringify(toJson(method.input, input)),
  });
  const body = await response.text();
  const headers = [...response.headers].join('\n');
  const [code, message] = response.ok ? ['OK', ''] : errorOf(JSON.parse(body));
  const about = `JSON ${describe(one)}`;
  const problems = world.canaries
    .found(caller, row.operation, `${headers}\n${body}`, sent)
    .map((what) => `LEAK ${about}: ${what}`);
  const answer = { ...before.answer, code, message };
  if (!isExpected({ ...before, answer }))
    problems.push(`WRONG ${about}: expected ${one.expected.join()}, found ${body}`);
  const refused = code !== 'OK' && code === before.answer.code;
  if (refused && message !== before.answer.message)
    problems.push(`UNEQUAL ${about}: ${message}, but over gRPC ${before.answer.message}`);
  return problems;
}

function errorOf(error: JsonValue): [code: string, message: string] {
  if (typeof error !== 'object' || error === null || Array.isArray(error)) return ['', JSON.stringify(error)];
  return [String(error['code']).toUpperCase(), String(error['message'])];
}
