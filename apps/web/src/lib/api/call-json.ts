/** One unary call as JSON (Connect), for services that are known by name only. */
import { endSession, messageOf } from './session.svelte.ts';

/** @param method such as `platform.component.sensor.v1.SensorService/GetReadings` @throws Error with what the cloud or the machine said */
export async function callJson(
  method: string,
  request: object,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<Record<string, unknown>> {
  const answer = await fetch(`/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'connect-protocol-version': '1', ...headers },
    body: JSON.stringify(request),
    ...(signal && { signal }),
  });
  if (answer.status === 401) endSession();
  if (!answer.ok) throw new Error(await messageOf(answer));
  return answer.json();
}
