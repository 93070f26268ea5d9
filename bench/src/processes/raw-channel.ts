/**
 * One side of a bare data channel, without anything of ours: the library in a process of its own. The parent passes descriptions and
 * candidates on, as lines of JSON. Argument: `offer` or `answer`.
 *
 * The side that answers returns messages of less than 1,000 bytes, and after a line `flood` sends messages of `bytes` for `seconds`. The side
 * that offers reports, on command, the times of echoes and what arrives.
 */
import { createInterface } from 'node:readline';
import { type DataChannel, PeerConnection } from 'node-datachannel';
import type { FromRaw, ToRaw } from '../remote/raw-pair.ts';

const isOffer = process.argv[2] === 'offer';
const lowBytes = 1 << 20;
const tell = (message: FromRaw): boolean => process.stdout.write(`${JSON.stringify(message)}\n`);

let connection: PeerConnection | undefined;
let channel: DataChannel | undefined;
let held: { candidate: string; mid: string }[] | undefined;
let [onArrived, onLow]: (((message: Buffer) => void) | undefined)[] = [];

function open(): PeerConnection {
  const made = new PeerConnection('', { iceServers: [], disableAutoNegotiation: true, maxMessageSize: 65_536 });
  held = isOffer ? [] : undefined;
  made.onLocalDescription((sdp) => tell({ event: 'described', sdp }));
  made.onLocalCandidate((candidate, mid) => {
    // The library fails if the connection works before it has read the answer.
    if (held === undefined) tell({ event: 'candidate', candidate, mid });
    else held.push({ candidate, mid });
  });
  const data = made.createDataChannel('data', { negotiated: true, id: 0 });
  made.createDataChannel('negotiation', { negotiated: true, id: 1 });
  data.onOpen(() => tell({ event: 'opened' }));
  data.onMessage((message) => {
    if (!Buffer.isBuffer(message)) return;
    if (isOffer) onArrived?.(message);
    else if (message.length < 1_000) data.sendMessageBinary(message);
  });
  data.setBufferedAmountLowThreshold(lowBytes);
  data.onBufferedAmountLow(() => onLow?.(Buffer.alloc(0)));
  connection = made;
  channel = data;
  return made;
}

async function echo(count: number): Promise<void> {
  const times: number[] = [];
  for (let sent = 0; sent < count; sent++) {
    const from = performance.now();
    const arrived = new Promise<Buffer>((resolve) => {
      onArrived = resolve;
    });
    channel?.sendMessageBinary(Buffer.alloc(100));
    await arrived;
    times.push(performance.now() - from);
  }
  tell({ event: 'echoed', times });
}

async function flood(bytes: number, seconds: number): Promise<void> {
  const message = Buffer.alloc(bytes, 1);
  for (const untilMs = performance.now() + seconds * 1_000; performance.now() < untilMs; ) {
    while ((channel?.bufferedAmount() ?? 0) < 4 * lowBytes) channel?.sendMessageBinary(message);
    await new Promise((resolve) => {
      onLow = resolve;
    });
  }
  // The last message: the other side reports.
  channel?.sendMessageBinary(Buffer.alloc(1));
}

function receiveFlood(): void {
  let [bytes, fromMs] = [0, 0];
  onArrived = (message) => {
    if (fromMs === 0) fromMs = performance.now();
    else bytes += message.length;
    if (message.length === 1)
      tell({ event: 'flooded', bytesPerSecond: (bytes / (performance.now() - fromMs)) * 1_000 });
  };
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as ToRaw;
  if (message.do === 'open') open().setLocalDescription('offer');
  else if (message.do === 'describe' && !isOffer) {
    const made = open();
    // This side must not take the first step of DTLS before the other one listens.
    made.setRemoteDescription(message.sdp.replaceAll('a=setup:actpass', 'a=setup:active'), 'offer');
    made.setLocalDescription('answer');
  } else if (message.do === 'describe') {
    connection?.setRemoteDescription(message.sdp, 'answer');
    for (const candidate of held ?? []) tell({ event: 'candidate', ...candidate });
    held = undefined;
  } else if (message.do === 'candidate') connection?.addRemoteCandidate(message.candidate, message.mid);
  else if (message.do === 'echo') void echo(message.count);
  else if (message.do === 'flood') void flood(message.bytes, message.seconds);
  else if (message.do === 'receive') receiveFlood();
  else if (message.do === 'close') connection?.close();
});
process.stdin.on('end', () => process.exit(0));
tell({ event: 'ready' });
