// One member of a group by franz-go or sarama, which leaves cleanly at SIGTERM; or kfake, the broker of franz-go's own tests.
//
// Arguments: library (franz, franz-next, sarama), bootstrap, group, topic, client id; or kfake, port, topic.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

const session = 6 * time.Second
const beat = time.Second

// Of kfake's topic.
const partitions = 6

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	library, words := os.Args[1], os.Args[2:]
	var err error
	switch library {
	case "kfake":
		err = fakeBroker(ctx, words[0], words[1])
	case "sarama":
		err = bySarama(ctx, words[0], words[1], words[2], words[3])
	default:
		err = byFranz(ctx, words[0], words[1], words[2], words[3], library == "franz-next")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func fakeBroker(ctx context.Context, port, topic string) error {
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	cluster, err := kfake.NewCluster(kfake.Ports(number), kfake.SeedTopics(partitions, topic))
	if err != nil {
		return err
	}
	defer cluster.Close()
	fmt.Println("ready")
	<-ctx.Done()
	return nil
}

func byFranz(ctx context.Context, bootstrap, group, topic, client string, next bool) error {
	options := []kgo.Opt{
		kgo.SeedBrokers(bootstrap), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.ClientID(client),
		kgo.SessionTimeout(session), kgo.HeartbeatInterval(beat), kgo.RebalanceTimeout(session),
	}
	if next {
		options = append(options, kgo.ServerSideBalancer())
	}
	consumer, err := kgo.NewClient(options...)
	if err != nil {
		return err
	}
	defer consumer.Close()
	for ctx.Err() == nil {
		consumer.PollFetches(ctx)
	}
	return nil
}

type reader struct{}

func (reader) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (reader) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (reader) ConsumeClaim(s sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		s.MarkMessage(message, "")
	}
	return nil
}

func bySarama(ctx context.Context, bootstrap, group, topic, client string) error {
	config := sarama.NewConfig()
	config.ClientID = client
	config.Version = sarama.V2_8_0_0
	config.Consumer.Group.Session.Timeout = session
	config.Consumer.Group.Heartbeat.Interval = beat
	config.Consumer.Group.Rebalance.Timeout = session
	consumer, err := sarama.NewConsumerGroup([]string{bootstrap}, group, config)
	if err != nil {
		return err
	}
	defer consumer.Close()
	for ctx.Err() == nil {
		if err := consumer.Consume(ctx, []string{topic}, reader{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			time.Sleep(time.Second)
		}
	}
	return nil
}
