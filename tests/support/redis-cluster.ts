/** A throw-away Redis Cluster of three nodes, each with a third of the slots. */
import { freePort } from '../../bench/servers/redis-process.ts';
import { waitFor } from '../e2e/wait-for.ts';
import { startRedis, type TestRedis } from './redis-server.ts';

const SLOTS = 16_384;
const NODES = 3;
const READY_MS_MAX = 20_000;

export interface TestCluster extends AsyncDisposable {
  /** As in REDIS_URL: the nodes separated by commas. */
  url: string;
  nodes: TestRedis[];
}

/** Starts a node. Another program may take the second port before the node does: then with other ports. */
async function startNode(attempts = 3): Promise<{ node: TestRedis; busPort: number }> {
  const busPort = await freePort();
  const words = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)];
  try {
    return { node: await startRedis(words), busPort };
  } catch (error) {
    if (attempts === 1) throw error;
    return startNode(attempts - 1);
  }
}

export async function startRedisCluster(): Promise<TestCluster> {
  const started: { node: TestRedis; busPort: number }[] = [];
  for (let index = 0; index < NODES; index++) {
    started.push(await startNode());
  }
  const nodes = started.map(({ node }) => node);
  const [first] = nodes;
  for (const [index, { node, busPort }] of started.entries()) {
    const from = Math.ceil((SLOTS * index) / NODES);
    const to = Math.ceil((SLOTS * (index + 1)) / NODES) - 1;
    await node.client.cluster('ADDSLOTSRANGE', from, to);
    await first?.client.call('CLUSTER', 'MEET', '127.0.0.1', node.port, busPort);
  }
  for (const { client } of nodes) {
    await waitFor('the cluster knows all of its nodes', READY_MS_MAX, async () =>
      /cluster_state:ok[\s\S]*cluster_known_nodes:3/.test(await client.cluster('INFO')),
    );
  }
  return {
    url: nodes.map(({ url }) => url).join(','),
    nodes,
    async [Symbol.asyncDispose]() {
      for (const node of nodes) await node[Symbol.asyncDispose]();
    },
  };
}
