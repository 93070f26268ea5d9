/** A receiver that speaks the push provider's HTTP v1 API: it checks signatures and access tokens, and keeps the messages. */
import { createVerify, generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedPush {
  readonly project: string;
  /** The `message` of the request. */
  readonly message: Readonly<Record<string, unknown>> & { readonly token: string };
}

/** `status` and the provider's error code, such as 404 UNREGISTERED. */
export type PushAnswer = readonly [status: number, errorCode: string];

export interface PushSink extends AsyncDisposable {
  readonly tokenUrl: string;
  readonly apiUrl: string;
  /** JSON of the service account whose signatures the sink accepts. */
  readonly credentials: string;
  /** The accepted messages. */
  readonly messages: readonly ReceivedPush[];
  /** The number of access tokens issued. */
  readonly tokensGiven: number;
  /** Gives this answer to messages to this device, until called with undefined. */
  answerDevice(token: string, answer: PushAnswer | undefined): void;
  /** Revokes all access tokens issued so far. */
  revokeTokens(): void;
}

export async function startPushSink(): Promise<PushSink> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const account = {
    type: 'service_account',
    project_id: 'test-project',
    client_email: 'push@test-project.iam.gserviceaccount.com',
    private_key: privateKey,
  };
  const messages: ReceivedPush[] = [];
  const answers = new Map<string, PushAnswer>();
  const given = new Set<string>();
  let tokensGiven = 0;

  const tokenFor = (body: string, tokenUrl: string): readonly [number, unknown] => {
    const form = new URLSearchParams(body);
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const isSigned = createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature, 'base64url');
    const { iss, aud, scope } = isSigned ? JSON.parse(Buffer.from(claims, 'base64url').toString()) : {};
    const isRight =
      form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
      iss === account.client_email &&
      aud === tokenUrl &&
      scope === 'https://www.googleapis.com/auth/firebase.messaging';
    if (!isRight) return [400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }];
    tokensGiven++;
    const token = randomUUID();
    given.add(token);
    return [200, { access_token: token, expires_in: 3_599, token_type: 'Bearer' }];
  };
  const accept = (request: IncomingMessage, body: string): readonly [number, unknown] => {
    const project = /^\/v1\/projects\/([^/]+)\/messages:send$/.exec(request.url ?? '')?.[1];
    if (project === undefined) return failure(404, 'NOT_FOUND');
    if (!given.has((request.headers.authorization ?? '').replace(/^Bearer /, '')))
      return failure(401, 'UNAUTHENTICATED');
    const { message } = JSON.parse(body);
    const [status, code] = answers.get(message.token) ?? [200, ''];
    if (status !== 200) return failure(status, code);
    messages.push({ project, message });
    return [200, { name: `projects/${project}/messages/${messages.length}` }];
  };

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const [status, json] = request.url === '/token' ? tokenFor(body, `${base}/token`) : accept(request, body);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    tokenUrl: `${base}/token`,
    apiUrl: base,
    credentials: JSON.stringify(account),
    messages,
    get tokensGiven() {
      return tokensGiven;
    },
    answerDevice(token, answer) {
      if (answer === undefined) answers.delete(token);
      else answers.set(token, answer);
    },
    revokeTokens: () => given.clear(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function failure(code: number, errorCode: string): readonly [number, unknown] {
  const type = 'type.googleapis.com/google.firebase.fcm.v1.FcmError';
  return [
    code,
    { error: { code, status: errorCode, message: `as the test says`, details: [{ '@type': type, errorCode }] } },
  ];
}
