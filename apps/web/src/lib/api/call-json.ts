/** Makes one unary call as JSON (Connect), for services that are known only by name. */
import { askWith } from './session.svelte.ts';

/** @param method such as `platform.component.sensor.v1.SensorService/GetReadings` @throws Error with the message of cloud or machine */
export async function callJson(
  method: string,
  request: object,
  headers: Readonly<Record<string, string>>,
  init: Pick<RequestInit, 'keepalive' | 'signal'> = {},
): Promise<Record<string, unknown>> {
  const answer = await askWith(`/${method}`, request, {
    headers: { 'connect-protocol-version': '1', ...headers },
    ...init,
  });
  return answer.json();
}
