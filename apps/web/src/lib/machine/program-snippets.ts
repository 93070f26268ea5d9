/** Code that connects to a machine with a key of only that machine. docs/guides/remote-control.md explains each client. */
import type { Snippet } from '../settings/snippets.ts';

/** Through the cloud, or directly on the network of the machine. */
export type Way = 'cloud' | 'network';

export interface ProgramTarget {
  readonly partId: string;
  /** `<part id>.<machine domain>`; may have a port. */
  readonly fqdn: string;
  /** Its name in multicast DNS. */
  readonly localFqdn: string;
  /** Address of the cloud. */
  readonly cloudUrl: string;
}

/** Where a machine-server listens unless its configuration says otherwise. */
const defaultPort = 8080;

/** The address for clients with the public SDKs. In the network they find the port by multicast DNS. */
export function programAddress(way: Way, { fqdn, localFqdn, cloudUrl }: ProgramTarget): string {
  if (way === 'network') return localFqdn;
  const { protocol, port } = new URL(cloudUrl);
  // Go dials a name through the cloud only with its port.
  return `${fqdn.replace(/:\d+$/, '')}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

export function programSnippets(way: Way, target: ProgramTarget, id: string, key: string): readonly Snippet[] {
  const address = programAddress(way, target);
  return [
    { name: 'Python', text: python(address, id, key) },
    { name: 'Go', text: go(address, id, key) },
    { name: 'TypeScript', text: way === 'cloud' ? throughCloud(target, id, key) : direct(target, id, key) },
  ];
}

function python(address: string, id: string, key: string): string {
  return `# pip install viam-sdk
import asyncio
from viam.robot.client import RobotClient

async def main():
    options = RobotClient.Options.with_api_key(api_key="${key}", api_key_id="${id}")
    machine = await RobotClient.at_address("${address}", options)
    print(machine.resource_names)
    await machine.close()

asyncio.run(main())`;
}

function go(address: string, id: string, key: string): string {
  return `package main

import (
	"context"
	"fmt"

	"go.viam.com/rdk/logging"
	"go.viam.com/rdk/robot/client"
	"go.viam.com/utils/rpc"
)

func main() {
	ctx := context.Background()
	credentials := rpc.WithEntityCredentials("${id}", rpc.Credentials{Type: "api-key", Payload: "${key}"})
	machine, err := client.New(ctx, "${address}", logging.NewLogger("client"), client.WithDialOptions(credentials))
	if err != nil {
		panic(err)
	}
	defer machine.Close(ctx)
	fmt.Println(machine.ResourceNames())
}`;
}

/** The public SDK dials only addresses that contain "local" without WebRTC. */
function throughCloud({ partId, cloudUrl }: ProgramTarget, id: string, key: string): string {
  return `import { openCloud } from '@platform/sdk/cloud';

await using cloud = openCloud({ url: '${new URL(cloudUrl).origin}', keyId: '${id}', key: '${key}' });
console.log(await cloud.machine('${partId}').resourceNames());`;
}

function direct({ localFqdn }: ProgramTarget, id: string, key: string): string {
  return `// npm install @viamrobotics/sdk
import * as VIAM from '@viamrobotics/sdk';

// The port is ${defaultPort}, or the next free one: the log of the machine-server says which.
const machine = await new VIAM.RobotClient().dial({
  host: 'https://${localFqdn}:${defaultPort}',
  credentials: { type: 'api-key', authEntity: '${id}', payload: '${key}' },
  noReconnect: true,
});
console.log(await machine.resourceNames());
await machine.disconnect();`;
}
