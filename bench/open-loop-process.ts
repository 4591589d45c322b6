/** An open loop in a separate process, so that nothing else delays its clock. One message in, one out. */
import { once } from 'node:events';
import { type OpenLoop, runOpenLoop } from './open-loop.ts';

const [loop] = (await once(process, 'message')) as [OpenLoop];
process.send?.(await runOpenLoop(loop), () => process.exit(0));
