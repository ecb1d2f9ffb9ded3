// The entry of broker.js.
import { startBroker } from "./broker.js";

startBroker();
