/** With the public SDK, `viam-sdk` on PyPI. */
import { type Access, quoted, type SnippetKey } from './access.ts';

export function pythonSnippet(access: Access, { id, secret }: SnippetKey): string {
  const { host, port, isPlaintext, caFile, sensor, hostsLine } = access;
  const usesSensor = sensor !== undefined;
  const options = isPlaintext
    ? [
        '# The cloud is on this computer, so the key may be sent in plaintext.',
        `credentials = Credentials("api-key", ${quoted(secret)})`,
        `dial = DialOptions(insecure=True, auth_entity=${quoted(id)}, credentials=credentials)`,
        'options = RobotClient.Options(dial_options=dial)',
      ]
    : [`options = RobotClient.Options.with_api_key(api_key=${quoted(secret)}, api_key_id=${quoted(id)})`];
  return `${[
    '# pip install viam-sdk',
    '# python3 machine.py',
    ...(hostsLine === undefined ? [] : [`# /etc/hosts needs this line: ${hostsLine}`]),
    'import asyncio',
    ...(caFile === undefined ? [] : ['import os']),
    '',
    ...(usesSensor ? ['from viam.components.sensor import Sensor'] : []),
    'from viam.robot.client import RobotClient',
    ...(isPlaintext ? ['from viam.rpc.dial import Credentials, DialOptions'] : []),
    '',
    ...(caFile === undefined
      ? []
      : ["# The cloud's own authority.", `os.environ["SSL_CERT_FILE"] = ${quoted(caFile)}`, '']),
    '',
    'async def main():',
    ...options.map((line) => `    ${line}`),
    `    machine = await RobotClient.at_address(${quoted(port === 443 ? host : `${host}:${port}`)}, options)`,
    '    try:',
    '        for resource in machine.resource_names:',
    '            print(f"{resource.type} {resource.subtype} {resource.name}")',
    ...(usesSensor ? [`        print(await Sensor.from_robot(machine, ${quoted(sensor)}).get_readings())`] : []),
    '    finally:',
    '        await machine.close()',
    '',
    '',
    'asyncio.run(main())',
  ].join('\n')}\n`;
}
